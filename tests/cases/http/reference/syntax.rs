//! The samples of all operations are programs of their languages, and those in Rust compile.

use super::{page_of, sample};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use tests::{SharedWorld, World, on_one_shape, on_shapes, root};

/// A package with the samples. Its dependencies have the versions of the workspace's lock file.
const MANIFEST: &str = r#"
    [package]
    name = "samples"
    edition = "2024"

    [lib]
    path = "lib.rs"

    [dependencies]
    reqwest = { version = "*", default-features = false, features = ["form"] }

    [workspace]
"#;

/// All samples of a language, each with its operation.
async fn samples(world: &World, language: &str) -> Vec<(String, String)> {
    let anyone = world.anyone();
    let document = anyone.get("/openapi.json").await.expect(200).json();
    let mut samples = Vec::new();
    for tag in document["tags"].as_array().unwrap() {
        let path = format!("{}.md", page_of(&tag["name"]));
        let markdown = anyone.get(&path).await.expect(200).text();
        for part in markdown.split("(operation `").skip(1) {
            let id = part.split('`').next().unwrap();
            samples.push((id.to_owned(), sample(&markdown, id, language).to_owned()));
        }
    }
    assert!(samples.len() > 20, "{samples:?}");
    samples
}

/// Runs a checker, which must succeed.
fn check(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

/// All samples of a language are in one file, because a process for each would take a minute. Those in
/// JavaScript declare the same names, so each is in a block.
async fn samples_have_the_syntax_of_their_languages(world: SharedWorld) {
    let directory = tempfile::tempdir().unwrap();
    for (language, file, checker) in [
        ("curl", "samples.sh", ["bash", "-n"].as_slice()),
        ("JavaScript", "samples.mjs", &["node", "--check"]),
        ("Python", "samples.py", &["python3", "-m", "py_compile"]),
    ] {
        let programs = samples(&world, language).await.into_iter();
        let programs = programs.map(|(id, code)| match language {
            "JavaScript" => format!("{{\n// {id}\n{code}\n}}\n"),
            _ => format!("# {id}\n{code}\n"),
        });
        let file = directory.path().join(file);
        fs::write(&file, programs.collect::<String>()).unwrap();
        check(Command::new(checker[0]).args(&checker[1..]).arg(&file));
    }
}

/// A function with a sample in Rust, whose parameters are the variables in its headers.
fn function(id: &str, code: &str) -> String {
    let headers = code
        .lines()
        .filter(|line| line.trim_start().starts_with(".header("));
    let formatted = headers.filter(|line| line.contains("format!("));
    let names = formatted.flat_map(|line| line.split(['{', '}']).skip(1).step_by(2));
    let names: BTreeSet<&str> = names.collect();
    let parameters: String = names.iter().map(|name| format!("{name}: &str, ")).collect();
    format!("pub async fn {id}({parameters}) -> Result<(), reqwest::Error> {{\n{code}\nOk(())\n}}\n")
}

async fn samples_in_rust_compile(world: SharedWorld) {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let functions = samples(&world, "Rust").await.into_iter();
    let functions = functions.map(|(id, code)| function(&id, &code));
    fs::write(file("lib.rs"), functions.collect::<String>()).unwrap();
    fs::write(file("Cargo.toml"), MANIFEST).unwrap();
    fs::copy(root().join("Cargo.lock"), file("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--offline", "--manifest-path"]);
    cargo
        .arg(file("Cargo.toml"))
        .arg("--target-dir")
        .arg(root().join("target"));
    // The toolchain and the settings of Cargo are those of the directory.
    check(cargo.current_dir(root()));
}

on_one_shape!(samples_have_the_syntax_of_their_languages);
on_shapes!(samples_in_rust_compile: ; long: sqlite Sqlite);
