//! The module for single-page apps in `deploy/latchkey-auth`.

use serde_json::json;
use std::path::Path;
use std::process::Command;
use tests::{ClientLibrary, Shape, World, on_one_shape, without_deployment};

const ORIGIN: &str = "http://localhost:4000";
const CALLBACK: &str = "http://localhost:4000/cb";

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

async fn the_module_signs_in_refreshes_and_signs_out(shape: Shape) {
    let world = World::builder(shape).flag("--dpop", "nonces").start().await;
    let user = world.user().await;
    for dpop in [false, true] {
        let options: &[&str] = match dpop {
            true => &["--refresh-cookie", "--dpop-bound"],
            false => &["--refresh-cookie"],
        };
        let app = world.app().redirect_uri(CALLBACK).option(options).register();
        world.expect_origin(ORIGIN).await;
        let settings = json!({
            "issuer": world.base(),
            "app": app.id,
            "redirectUri": CALLBACK,
            "dpop": dpop,
            "user": { "id": user.id.to_string(), "email": user.email },
        });
        ClientLibrary::LatchkeyAuth
            .run(&settings, &mut world.browser(), &user)
            .await;
    }
}

on_one_shape!(the_module_signs_in_refreshes_and_signs_out);
without_deployment!(the_tests_of_the_module_pass);
