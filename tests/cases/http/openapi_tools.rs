//! What tools of others say of the document and of the program behind it.

use std::path::{Path, PathBuf};
use std::process::Command;
use tests::{App, Caller, Person, World, on_every_shape};

/// Where tests/run installs the tools.
fn tool(path: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/tools")
        .join(path);
    assert!(
        program.is_file(),
        "{} is missing: run tests/run, which installs it",
        program.display()
    );
    program
}

fn settings(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(name)
}

/// Runs a tool, which must be content.
async fn expect_success(mut command: Command) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
}

async fn spectral_finds_nothing(world: World) {
    for port in [world.issuer_ports()[0], world.api_ports()[0]] {
        let document = world
            .anyone()
            .get(&format!("http://localhost:{port}/openapi.json"))
            .await
            .expect(200);
        let file = world.data_dir().join("openapi.json");
        std::fs::write(&file, &document.body).unwrap();
        let mut spectral = Command::new(tool("spectral/node_modules/.bin/spectral"));
        spectral
            .args(["lint", "--fail-severity", "hint", "--ruleset"])
            .arg(settings("spectral.yaml"))
            .arg(file);
        expect_success(spectral).await;
    }
}

/// Generated requests for these operations, as a caller.
async fn generate(world: &World, caller: &Caller, port: u16, operations: &[&str]) {
    let mut schemathesis = Command::new(tool("schemathesis/bin/schemathesis"));
    schemathesis.current_dir(world.data_dir());
    schemathesis
        .arg("--config-file")
        .arg(settings("schemathesis.toml"));
    let base = format!("http://localhost:{port}");
    schemathesis.args(["run", &format!("{base}/openapi.json"), "--url", &base]);
    schemathesis.args(["--phases", "examples,coverage,fuzzing", "--max-examples", "8"]);
    schemathesis.args(operations);
    for (name, value) in caller.headers() {
        schemathesis.args(["--header", &format!("{name}: {value}")]);
    }
    expect_success(schemathesis).await;
}

async fn generated_requests_find_nothing(world: World) {
    let (person, app): (Person, App) = world.person_and_app().await;
    person.publish("Hello").await;
    let (issuer, api) = (world.issuer_ports()[0], world.api_ports()[0]);
    let token = app
        .tokens(
            &person,
            "posts:read posts:write comments:write payments:read payments:write profile:read",
        )
        .await
        .access;
    let bearer = person.bearer(&token);
    let of_tokens = [
        "--include-tag",
        "Posts",
        "--include-tag",
        "Comments",
        "--include-tag",
        "Payments",
        "--include-operation-id",
        "readUser",
    ];
    generate(&world, &bearer, api, &of_tokens).await;
    generate(&world, &bearer, api, &["--include-operation-id", "readProtected"]).await;
    let of_nobody = [
        "--include-operation-id",
        "login",
        "--include-operation-id",
        "createUser",
        "--include-operation-id",
        "requestPasswordReset",
        "--include-operation-id",
        "confirmPasswordReset",
        "--include-operation-id",
        "confirmEmailVerification",
    ];
    generate(&world, &world.anyone(), api, &of_nobody).await;
    let of_sessions = [
        "--include-operation-id",
        "changePassword",
        "--include-operation-id",
        "requestEmailVerification",
        "--include-operation-id",
        "beginTotp",
        "--include-operation-id",
        "confirmTotp",
        "--include-operation-id",
        "disableTotp",
        "--include-operation-id",
        "listSessions",
        "--include-operation-id",
        "listGrants",
        "--include-operation-id",
        "withdrawGrant",
        "--include-operation-id",
        "exportAccount",
        "--include-operation-id",
        "deleteAccount",
        "--include-operation-id",
        "readMe",
        "--include-operation-id",
        "readCsrfToken",
    ];
    generate(&world, &person, api, &of_sessions).await;
    generate(&world, &person, api, &["--include-operation-id", "logout"]).await;
    let admin = world.someone("admin").await;
    generate(&world, &admin, issuer, &["--include-tag", "Administration"]).await;
    let of_readers = ["--include-tag", "Discovery", "--include-tag", "Service"];
    generate(&world, &world.anyone(), api, &of_readers).await;
    let of_apps = [
        "--include-tag",
        "OAuth",
        "--include-tag",
        "Pages",
        "--include-tag",
        "Discovery",
    ];
    generate(&world, &world.anyone(), issuer, &of_apps).await;
}

on_every_shape!(spectral_finds_nothing, generated_requests_find_nothing);
