//! Third-party tools check the OpenAPI document and the program.

use std::path::PathBuf;
use std::process::Command;
use tests::{App, Caller, SharedWorld, User, World, on_one_shape, root, rounds, tool};

fn settings(name: &str) -> PathBuf {
    root().join("tests/tools").join(name)
}

/// Runs a tool and expects success.
async fn expect_success(mut command: Command) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
}

async fn spectral_reports_no_problems(world: SharedWorld) {
    let mut spectral = Command::new(tool("node/node_modules/.bin/spectral"));
    spectral
        .args(["lint", "--fail-severity", "hint", "--ruleset"])
        .arg(settings("spectral.yaml"));
    // One process serves the document of both services.
    let document = world.anyone().get("/openapi.json").await.expect(200);
    let file = world.data_dir().join("openapi.json");
    std::fs::write(&file, &document.body).unwrap();
    spectral.arg(file);
    expect_success(spectral).await;
}

/// Sends generated requests for these operations with the credentials of a caller.
async fn generate(world: &World, caller: &Caller, port: u16, operations: &[&str]) {
    let mut schemathesis = Command::new(tool("python/bin/schemathesis"));
    schemathesis.current_dir(world.data_dir());
    schemathesis
        .arg("--config-file")
        .arg(settings("schemathesis.toml"));
    let base = format!("http://localhost:{port}");
    schemathesis.args(["run", &format!("{base}/openapi.json"), "--url", &base]);
    // The gate generates no random values.
    let (phases, examples) = rounds(("examples,coverage", "1"), ("examples,coverage,fuzzing", "50"));
    schemathesis.args(["--phases", phases, "--max-examples", examples]);
    schemathesis.args(operations);
    for (name, value) in caller.headers() {
        schemathesis.args(["--header", &format!("{name}: {value}")]);
    }
    expect_success(schemathesis).await;
}

async fn schemathesis_reports_no_failures(world: World) {
    let (user, app): (User, App) = world.user_and_app().await;
    user.publish("Hello").await;
    let (issuer, api) = (world.issuer_ports()[0], world.api_ports()[0]);
    let token = app
        .tokens(
            &user,
            "posts:read posts:write comments:write payments:read payments:write profile:read",
        )
        .await
        .access;
    let bearer = user.bearer(&token);
    let token_operations = [
        "--include-tag",
        "Posts",
        "--include-tag",
        "Comments",
        "--include-tag",
        "Payments",
        "--include-operation-id",
        "readUser",
        "--include-operation-id",
        "readProtected",
    ];
    generate(&world, &bearer, api, &token_operations).await;
    let public_operations = [
        "--include-tag",
        "Discovery",
        "--include-tag",
        "Service",
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
    generate(&world, &world.anyone(), api, &public_operations).await;
    let session_operations = [
        "--include-operation-id",
        "changePassword",
        "--include-operation-id",
        "requestEmailVerification",
        "--include-operation-id",
        "beginTotp",
        "--include-operation-id",
        "confirmTotp",
        "--include-operation-id",
        "renewRecoveryCodes",
        "--include-operation-id",
        "disableTotp",
        "--include-operation-id",
        "listPasskeys",
        "--include-operation-id",
        "renamePasskey",
        "--include-operation-id",
        "removePasskey",
        "--include-operation-id",
        "removePassword",
        "--include-operation-id",
        "listSessions",
        "--include-operation-id",
        "endOtherSessions",
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
    generate(&world, &user, api, &session_operations).await;
    generate(&world, &user, api, &["--include-operation-id", "logout"]).await;
    let admin = world.user_with_role("admin").await;
    generate(&world, &admin, issuer, &["--include-tag", "Administration"]).await;
    let app_operations = [
        "--include-tag",
        "OAuth",
        "--include-tag",
        "Pages",
        "--include-tag",
        "Discovery",
    ];
    generate(&world, &world.anyone(), issuer, &app_operations).await;
}

on_one_shape!(spectral_reports_no_problems, schemathesis_reports_no_failures);
