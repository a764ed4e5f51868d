//! The modules of a crate import each other without circles.
//!
//! A module is a file, and contains the modules below it. What a module and those that it contains import of
//! each other, in either direction, is inside it and makes no circle. Two modules of which neither contains
//! the other are compared where their paths part: an import of `clients::list` by `sessions::ends` is one of
//! `clients` by `sessions`. Each `use` and each path in the code counts, outside tests. It goes to the module
//! that declares the name, also where another module re-exports it; a re-export with `*` is not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tests::{root, without_deployment};

/// The path of a module, such as `clients` and `list`. The root of the crate has the empty one.
type ModulePath = Vec<String>;

/// The modules of a crate.
type Crate = BTreeMap<ModulePath, Module>;

#[derive(Default)]
struct Module {
    /// The paths in the code, as they are written.
    paths: Vec<String>,
    /// The path of each name that the module imports or re-exports.
    names: BTreeMap<String, String>,
}

impl Module {
    /// Reads formatted code, without its comments and the items for tests.
    fn read(&mut self, code: &str) {
        let mut lines = code.lines().map(|line| line.split("//").next().unwrap());
        while let Some(line) = lines.next() {
            let item = line.trim_start();
            if item.starts_with("#[cfg(test)]") {
                let indent = &line[..line.len() - item.len()];
                let is_end = |line: &str| {
                    let item = line.strip_prefix(indent).unwrap_or_default();
                    !item.starts_with([' ', '#']) && item.ends_with(['}', ';', ','])
                };
                lines.by_ref().find(|line| is_end(line));
                continue;
            }
            let (visibility, tree) = item.split_once("use ").unwrap_or(("no import", ""));
            if visibility.is_empty() || (visibility.starts_with("pub") && visibility.ends_with(' ')) {
                let mut tree = tree.to_owned();
                while !tree.contains(';') {
                    tree.push_str(lines.next().unwrap());
                }
                self.import("", tree.trim_end().trim_end_matches(';'));
                continue;
            }
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            self.paths
                .extend(words.filter(|word| word.contains("::")).map(str::to_owned));
        }
    }

    /// Adds the names of a tree of imports below the path `prefix`.
    fn import(&mut self, prefix: &str, tree: &str) {
        if let Some((path, list)) = tree.split_once('{') {
            let list = list.trim_end().trim_end_matches(',');
            let list = list.strip_suffix('}').unwrap();
            let mut depth = 0;
            let items = list.split(|c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                c == ',' && depth == 0
            });
            for item in items.filter(|item| !item.trim().is_empty()) {
                self.import(&format!("{prefix}{}", path.trim()), item);
            }
            return;
        }
        let path = format!("{prefix}{}", tree.trim());
        let (path, alias) = path.split_once(" as ").unwrap_or((path.as_str(), ""));
        let path = path.trim_end_matches("::self");
        let name = path
            .rsplit("::")
            .next()
            .filter(|_| alias.is_empty())
            .unwrap_or(alias);
        self.names.insert(name.to_owned(), path.to_owned());
    }
}

/// Reads the modules in `directory`, which belongs to the module `parent`.
fn read_modules(directory: &Path, parent: &[String], modules: &mut Crate) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let mut module = parent.to_vec();
        if !(parent.is_empty() && ["lib", "main"].contains(&name)) {
            module.push(name.to_owned());
        }
        if path.is_dir() {
            read_modules(&path, &module, modules);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
            let code = std::fs::read_to_string(&path).unwrap();
            modules.entry(module).or_default().read(&code);
        }
    }
}

/// Returns the path from the root of the crate, or `None` if it begins with the name of another crate.
fn absolute(modules: &Crate, module: &[String], path: &str) -> Option<ModulePath> {
    let mut absolute = module.to_vec();
    for (position, name) in path.split("::").enumerate() {
        match name {
            "crate" => absolute.clear(),
            "self" => {}
            "super" => drop(absolute.pop()),
            name => absolute.push(name.to_owned()),
        }
        if position == 0 && !["crate", "self", "super"].contains(&name) && !modules.contains_key(&absolute) {
            return None;
        }
    }
    Some(absolute)
}

/// Returns the module that declares what the path leads to, or `None` if that is another crate.
fn declaring(modules: &Crate, path: &[String]) -> Option<ModulePath> {
    let mut lengths = (0..=path.len()).rev();
    let length = lengths.find(|length| modules.contains_key(&path[..*length]))?;
    let (module, rest) = path.split_at(length);
    let Some(imported) = rest.first().and_then(|name| modules[module].names.get(name)) else {
        return Some(module.to_vec());
    };
    let mut path = absolute(modules, module, imported)?;
    path.extend_from_slice(&rest[1..]);
    declaring(modules, &path)
}

/// Returns the modules that are in a circle or import one that is, each with those of them that it imports.
fn circles(modules: &Crate) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let mut imports = BTreeMap::<ModulePath, BTreeSet<ModulePath>>::new();
    for (path, module) in modules {
        for imported in module.paths.iter().chain(module.names.values()) {
            let imported = absolute(modules, path, imported);
            let Some(target) = imported.and_then(|imported| declaring(modules, &imported)) else {
                continue;
            };
            let shared = path
                .iter()
                .zip(&target)
                .take_while(|(name, other)| name == other)
                .count();
            if shared < path.len() && shared < target.len() {
                let importing = imports.entry(path[..=shared].to_vec()).or_default();
                importing.insert(target[..=shared].to_vec());
            }
        }
    }
    let mut former = 0;
    while former != imports.len() {
        former = imports.len();
        let importing: BTreeSet<ModulePath> = imports.keys().cloned().collect();
        imports.retain(|_, targets| {
            targets.retain(|target| importing.contains(target));
            !targets.is_empty()
        });
    }
    imports
}

fn no_module_imports_a_module_that_imports_it() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest
        .lines()
        .skip_while(|line| !line.starts_with("members"))
        .skip(1);
    let members = members
        .take_while(|line| *line != "]")
        .map(|line| line.trim_matches([' ', '"', ',']));
    let mut count = 0;
    for member in members.filter(|member| !member.starts_with("tests")) {
        let mut modules = Crate::new();
        read_modules(&root().join(member).join("src"), &[], &mut modules);
        count += modules.len();
        let circles = circles(&modules);
        assert!(circles.is_empty(), "{member}: {circles:#?}");
    }
    assert!(count > 400, "only {count} modules were found");
}

/// Crates, as their modules with the code of each, and whether they have a circle.
const CRATES: &[(&str, bool)] = &[
    ("a = use crate::b::B; | b = pub struct B;", false),
    ("a = use crate::b::B; | b = fn f() {\n    crate::a::f();\n}", true),
    (
        "a = use super::{b, c::C}; | b = | c = use crate::d::D; | d = use crate::a;",
        true,
    ),
    // A module and the modules below it import of each other.
    (
        "a = pub use x::X;\nuse y::Y; | a::x = use super::A; | a::y = use super::x;",
        false,
    ),
    (
        "a = | a::x = use super::y::Y; | a::y = use super::x::{self, X};",
        true,
    ),
    (
        "a = | a::x = use crate::b::B; | b = use crate::a::y::Y; | a::y = ",
        true,
    ),
    // A re-export leads to the module that declares the name.
    (
        " = pub use b::B; | a = use crate::B; | b = use crate::a::A;",
        true,
    ),
    (
        "a = pub use crate::b::B; | b = use crate::c::C; | c = use crate::a::B;",
        true,
    ),
    (
        "a = pub use crate::c::C as D;\nuse crate::b::B; | b = use crate::a::D; | c = ",
        false,
    ),
    // Comments and the code of tests do not count.
    (
        "a = // crate::b\n#[cfg(test)]\nmod tests {\n    use crate::b;\n} | b = use crate::a;",
        false,
    ),
    (
        "a = #[cfg(test)]\nuse b::B;\nuse crate::b; | b = use crate::a;",
        true,
    ),
];

fn planted_circles_are_found() {
    for (code, is_circle) in CRATES {
        let mut modules = Crate::new();
        for module in code.split(" | ") {
            let (path, code) = module.split_once(" =").unwrap();
            let names = path.split("::").filter(|name| !name.is_empty());
            let path = names.map(str::to_owned).collect();
            modules.entry(path).or_default().read(code.trim_start());
        }
        assert_eq!(!circles(&modules).is_empty(), *is_circle, "{code:?}");
    }
}

without_deployment!(
    no_module_imports_a_module_that_imports_it,
    planted_circles_are_found,
);
