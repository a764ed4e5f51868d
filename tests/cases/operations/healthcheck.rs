//! The command `healthcheck` of every program.

use std::process::Output;
use std::time::{Duration, Instant};
use tests::{Shape, SharedWorld, StubServer, World, on_every_shape};

/// The number of runs of which one must end before a time limit, on a busy machine.
const MAX_RUNS: usize = 5;
/// The time limit of a container engine for the process of the command.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// Runs the command of the program with these arguments, and of the API's program too.
fn run(world: &World, arguments: &[&str]) -> [Output; 2] {
    let arguments = [&["healthcheck"][..], arguments].concat();
    [
        world.run_without_settings(&arguments),
        world.run_api_without_settings(&arguments),
    ]
}

/// Runs the commands again if one reaches its time limit.
fn check(world: &World, arguments: &[&str]) -> [Output; 2] {
    let is_late =
        |output: &Output| String::from_utf8_lossy(&output.stderr).contains("does not answer within");
    let mut runs = (1..MAX_RUNS).map(|_| run(world, arguments));
    let in_time = runs.find(|outputs| !outputs.iter().any(is_late));
    in_time.unwrap_or_else(|| run(world, arguments))
}

/// Expects that the command with these arguments exits with 0, silently.
fn expect_success(world: &World, arguments: &[&str]) {
    for output in check(world, arguments) {
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let is_silent = output.stdout.is_empty() && output.stderr.is_empty();
        assert!(is_silent, "{arguments:?}: {output:?}");
    }
}

/// Expects that the commands exited with 1 and one line that contains this.
fn expect_failure<const N: usize>(outputs: [Output; N], error: &str) {
    for output in outputs {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}: {output:?}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{error}: {stderr}");
        assert!(stderr.contains(error), "{error}: {stderr}");
    }
}

/// The listen address may be any address of this machine, and comes from the settings of the server.
async fn a_running_server_is_live_and_ready(world: SharedWorld) {
    let file = tempfile::NamedTempFile::new().unwrap();
    for port in [world.issuer_ports(), world.api_ports()].concat() {
        for address in [format!("127.0.0.1:{port}"), format!("0.0.0.0:{port}")] {
            expect_success(&world, &["--listen", &address]);
            expect_success(&world, &["--ready", "--listen", &address]);
        }
        std::fs::write(file.path(), format!("listen = \"127.0.0.1:{port}\"\n")).unwrap();
        expect_success(&world, &["--ready", "--config", file.path().to_str().unwrap()]);
        let script = format!("LATCHKEY_LISTEN=127.0.0.1:{port} api-server healthcheck");
        let output = world.bash(&script);
        assert!(output.status.success(), "{output:?}");
    }
}

async fn a_server_without_keys_is_live_and_not_ready(shape: Shape) {
    let issuer = StubServer::start().await;
    issuer.answer(503, "");
    let setup = World::builder(shape).env("LATCHKEY_JWKS_URL", &issuer.url);
    let world = setup.without_readiness_check().start().await;
    for (port, api) in world
        .api_ports()
        .into_iter()
        .zip(world.at_each_api(&world.anyone()))
    {
        api.readiness("not ready").await.expect(503);
        let address = format!("127.0.0.1:{port}");
        expect_success(&world, &["--listen", &address]);
        let error = format!("http://{address}/readyz answers 503: unavailable: signing_keys");
        expect_failure(check(&world, &["--ready", "--listen", &address]), &error);
    }
}

async fn errors_name_the_cause(world: SharedWorld) {
    let stub = StubServer::start().await;
    let address = stub.url.trim_start_matches("http://");
    for (response, error) in [
        ("SSH-2.0-OpenSSH\r\n", "does not answer as an HTTP server does"),
        ("", "does not answer as an HTTP server does"),
        ("HTTP/1.1 503 \r\n\r\n<html>", "/livez answers 503"),
        ("HTTP/1.1 404 Not Found\r\n\r\n{}", "/livez answers 404"),
    ] {
        stub.answer_raw(response);
        expect_failure(check(&world, &["--listen", address]), error);
    }
    stub.never_answer();
    for program in [World::run_without_settings, World::run_api_without_settings] {
        let mut times = (0..MAX_RUNS).map(|_| {
            let began = Instant::now();
            let late = program(&world, &["healthcheck", "--listen", address]);
            let time = began.elapsed();
            expect_failure([late], "/livez does not answer within 1.5s");
            time
        });
        assert!(times.any(|time| time < EXIT_LIMIT), "no run ended in time");
    }
    expect_failure(check(&world, &["--listen", "127.0.0.1:1"]), "Connection refused");
    expect_failure(check(&world, &["--listen", "127.0.0.1:0"]), "LISTEN has port 0");
}

on_every_shape!(
    a_running_server_is_live_and_ready,
    a_server_without_keys_is_live_and_not_ready,
    errors_name_the_cause,
);
