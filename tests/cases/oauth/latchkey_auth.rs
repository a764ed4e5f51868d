//! The module for single-page apps in `deploy/latchkey-auth`.

use std::path::Path;
use std::process::Command;
use tests::without_deployment;

/// These tests also check the size of the module, and that npm accepts the package.
fn the_tests_of_the_module_pass() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/latchkey-auth");
    let files = std::fs::read_dir(directory).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let tests: Vec<_> = files
        .filter(|path| path.to_str().unwrap().ends_with(".test.mjs"))
        .collect();
    assert!(tests.len() > 6, "only {tests:?} were found");
    let output = Command::new("node").arg("--test").args(tests).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{report}", output.status);
}

without_deployment!(the_tests_of_the_module_pass);
