//! README.md and docs/: the commands in them work, and the generated pages are up to date.
//!
//! A fenced block marked `sh` is run. The blocks of one page run in order as one Bash script with `set -e`,
//! against a freshly started `latchkey` whose address replaces `localhost:8080`, in the directory that
//! contains its `data`. A block marked `console` shows commands that cannot run in a test, such as the
//! installation of packages: only its syntax is checked, and that the subcommands and options of the programs
//! exist. A user signs in while the blocks of the quickstarts run, so they have a test of their own.

mod installations;
mod quickstarts;
mod tutorial;

use super::read;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{Shape, SharedWorld, World, on_shapes, root, settings_page, without_deployment};

/// The command that renews the generated pages.
const UPDATE: &str = "UPDATE_DOCS=1 tests/run documentation";

/// The base URLs of the two programs in their published OpenAPI documents.
const ISSUER: &str = "https://id.example.org";
const API: &str = "https://api.example.org";

/// A fenced code block.
struct Block {
    line: usize,
    language: String,
    text: String,
}

/// The paths of README.md and of all pages below docs/, relative to the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut directories = vec![PathBuf::from("docs")];
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(root().join(&directory)).into_iter().flatten();
        for entry in entries.flatten() {
            let path = directory.join(entry.file_name());
            if entry.path().is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Each row of the table of limits names constants in one of its files, or a function or statement in
/// parentheses.
fn limits_name_constants_of_the_code() {
    let page = read("docs/develop/limits.md");
    let (mut directory, mut constants) = (PathBuf::new(), 0);
    for line in page.lines() {
        if line.starts_with("## ") {
            directory = root().join(quoted(line).next().unwrap());
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let [_, _, names, files, ..] = cells[..] else {
            continue;
        };
        let texts = quoted(files).map(|file| std::fs::read_to_string(directory.join(file)));
        let texts = texts.collect::<Result<Vec<_>, _>>();
        let code = texts.unwrap_or_else(|error| panic!("{line}: {error}")).concat();
        for name in quoted(names).filter(|_| !names.starts_with('(')) {
            assert!(code.contains(&format!("const {name}: ")), "{line}: {name}");
            constants += 1;
        }
    }
    assert!(constants > 200, "only {constants} constants were found");
}

/// The fenced blocks of a page.
fn blocks(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (open.take(), fence) {
            (Some(block), Some(_)) => blocks.push(block),
            (Some(mut block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, Some(language)) => {
                let language = language.trim().to_owned();
                assert!(
                    !["bash", "shell"].contains(&language.as_str()),
                    "{}:{}: mark the block `sh` or `console`",
                    page.display(),
                    index + 1
                );
                open = Some(Block {
                    line: index + 1,
                    language,
                    text: String::new(),
                });
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: a code block is not closed", page.display());
    blocks
}

/// The commands of a `console` block: the lines after `$ ` prompts if it has any, otherwise all lines.
fn without_prompts(text: &str) -> String {
    if !text.lines().any(|line| line.starts_with("$ ")) {
        return text.to_owned();
    }
    let mut commands = String::new();
    let mut continues = false;
    for line in text.lines() {
        let command = line.strip_prefix("$ ").or(continues.then_some(line));
        continues = command.is_some_and(|command| command.ends_with('\\'));
        for part in command.into_iter().flat_map(|command| [command, "\n"]) {
            commands.push_str(part);
        }
    }
    commands
}

/// A call of a program in a script.
struct ProgramCall<'a> {
    program: &'static str,
    /// Such as `["users", "list"]`.
    subcommands: Vec<&'a str>,
    /// The names of the options, such as `--json`.
    options: Vec<&'a str>,
}

/// The program that a word of a script names, with or without its path.
fn program_of(word: &str) -> Option<&'static str> {
    let name = word.rsplit('/').next();
    let mut programs = ["latchkey", "auth-server", "api-server"].into_iter();
    programs.find(|program| name == Some(program))
}

/// The calls of the programs in a script without continued lines, also those in containers and those as the
/// user of a service. Calls in quotes are not found.
fn program_calls(script: &str) -> Vec<ProgramCall<'_>> {
    let segments = script
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split(['|', ';', '&', '(', ')']));
    let mut found = Vec::new();
    for segment in segments {
        let mut words = segment.split_whitespace().peekable();
        while let Some(word) = words.peek() {
            match *word {
                "sudo" | "exec" | "env" | "as_service" | "as_issuer" => {}
                "-u" => drop(words.next()),
                assignment if assignment.contains('=') => {}
                _ => break,
            }
            words.next();
        }
        let first = words.next().and_then(program_of);
        let in_container = || program_of(words.find(|word| word.starts_with("/usr/local/bin/"))?);
        let Some(program) = first.or_else(in_container) else {
            continue;
        };
        let words: Vec<&str> = words.collect();
        let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let options = words.iter().filter_map(|word| word.split('=').next());
        let is_subcommand = |word: &&str| !word.starts_with('-') && is_name(word);
        found.push(ProgramCall {
            program,
            subcommands: words.iter().copied().take_while(is_subcommand).collect(),
            options: options.filter(|word| word.starts_with("--")).collect(),
        });
    }
    found
}

/// The script with the address of this world in place of the documented one.
fn at_address(world: &World, script: &str) -> String {
    let authority = world.base().trim_start_matches("http://");
    let script = script.replace("localhost:8080", authority);
    script.replace("127.0.0.1:8080", authority)
}

async fn documented_commands_run(shape: Shape) {
    for page in pages() {
        let blocks = blocks(&page);
        let mut script = String::new();
        for block in blocks.iter().filter(|block| block.language == "sh") {
            // The last of these lines in the output names the block that failed.
            script += &format!("echo '# {}:{}' >&2\n", page.display(), block.line);
            script += &block.text;
        }
        if script.is_empty() || page == Path::new(quickstarts::PAGE) {
            continue;
        }
        let world = World::start(shape).await;
        let output = world.bash(&at_address(&world, &script));
        assert!(
            output.status.success(),
            "{}: {}\n{}{}",
            page.display(),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

async fn documented_commands_exist(world: World) {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    for page in pages() {
        for block in blocks(&page) {
            let script = match block.language.as_str() {
                "sh" => block.text,
                "console" => without_prompts(&block.text),
                _ => continue,
            };
            let place = format!("{}:{}", page.display(), block.line);
            let syntax = Command::new("bash").args(["-n", "-c", &script]).output().unwrap();
            assert!(
                syntax.status.success(),
                "{place}: {}",
                String::from_utf8_lossy(&syntax.stderr)
            );
            for call in program_calls(&script.replace("\\\n", " ")) {
                let command = format!("{} {} --help", call.program, call.subcommands.join(" "));
                let help = helps.entry(command.clone()).or_insert_with(|| {
                    let help = world.bash(&command);
                    assert!(help.status.success(), "{place}: {command}: {help:?}");
                    String::from_utf8(help.stdout).unwrap()
                });
                let described = help.lines().filter(|line| line.trim_start().starts_with('-'));
                let known: Vec<&str> = described
                    .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
                    .collect();
                for option in call.options {
                    assert!(known.contains(&option), "{place}: {option}: {help}");
                }
            }
        }
    }
}

/// Compares a generated page with the stored one, or stores it if `UPDATE_DOCS` is set.
fn expect_up_to_date(path: &str, generated: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, generated).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    let mut lines = stored.lines().zip(generated.lines());
    let difference = lines.find(|(stored, generated)| stored != generated);
    assert!(
        stored == generated,
        "{path} is outdated, run: {UPDATE}\nfirst difference: {difference:?}"
    );
}

/// The OpenAPI document of the program at a port, with the published base URLs.
async fn document(world: &World, port: u16, base: &str) -> String {
    let url = format!("http://localhost:{port}/openapi.json");
    let served = world.anyone().get(&url).await.expect(200).text();
    let mut document: Value = serde_json::from_str(&served.replace(world.base(), base)).unwrap();
    let schemes = &mut document["components"]["securitySchemes"];
    // The issuer authorizes clients of both programs.
    *schemes = serde_json::from_str(&schemes.to_string().replace(base, ISSUER)).unwrap();
    serde_json::to_string_pretty(&document).unwrap() + "\n"
}

async fn the_published_openapi_documents_are_current(world: SharedWorld) {
    let issuer = document(&world, world.issuer_ports()[0], ISSUER).await;
    expect_up_to_date("docs/apps/openapi/auth-server.json", &issuer);
    let api = document(&world, world.api_ports()[0], API).await;
    expect_up_to_date("docs/apps/openapi/api-server.json", &api);
}

fn the_settings_page_is_current() {
    expect_up_to_date("docs/operate/settings.md", &settings_page());
}

/// The second column of the tables of modules in `docs/develop/conformance.md` names tests.
fn the_tests_of_the_conformance_page_exist() {
    let page = read("docs/develop/conformance.md");
    let mut sources = String::new();
    for directory in [
        "api",
        "oauth",
        "oauth/clients",
        "oauth/dpop",
        "oauth/fapi",
        "oauth/openid_connect",
        "oauth/registration",
        "oauth/signing_keys",
    ] {
        let files = std::fs::read_dir(root().join("tests/cases").join(directory)).unwrap();
        sources.extend(
            files
                .flatten()
                .filter_map(|file| std::fs::read_to_string(file.path()).ok()),
        );
    }
    let tables = page
        .split("\n\n")
        .filter(|block| block.starts_with("| module | test |"));
    let named: Vec<&str> = tables
        .flat_map(str::lines)
        .flat_map(|row| row.split('|').nth(2).unwrap().split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() > 100, "the tables were not found: {named:?}");
    for test in named {
        assert!(
            sources.contains(&format!("async fn {test}(")),
            "no test has the name {test}"
        );
    }
}

on_shapes!(documented_commands_run: sqlite Sqlite);
on_shapes!(documented_commands_exist: sqlite Sqlite);
on_shapes!(the_published_openapi_documents_are_current: split Split);
without_deployment!(
    limits_name_constants_of_the_code,
    the_settings_page_is_current,
    the_tests_of_the_conformance_page_exist,
);
