//! Settings that a running server takes over at SIGHUP.

use clap::{Arg, Args as _, Command};
use runtime::settings::{CommonSettings, RELOADED_SETTINGS};
use serde_json::{Value, json};
use std::path::Path;
use tests::{PASSWORD, Shape, World, eventually, on_every_shape, without_deployment};
use tokio::net::TcpStream;

const ORIGIN: &str = "https://app.example.org";
const AT_START: &str = "log-level = \"info,security=off\"\nrate-limit-reads = 100\n\
                        rate-limit-writes = 101\nrate-limit-address = 102\n";
const CHANGED: &str = "log-level = \"info\"\n\
                       rate-limit-reads = 77\n\
                       rate-limit-writes = 78\n\
                       rate-limit-address = 79\n\
                       allowed-origins = [\"https://app.example.org\"]\n\
                       trusted-proxies = \"127.0.0.0/8\"\n\
                       keep-alive = \"80s\"\n\
                       session-idle = \"2h\"\n";

/// Starts a world whose programs have the settings of the file, and limit the rate of requests.
async fn start(shape: Shape, file: &Path) -> World {
    std::fs::write(file, AT_START).unwrap();
    let setup = World::builder(shape)
        .without_nginx()
        .env("LATCHKEY_CONFIG", file.to_str().unwrap());
    setup.flag("--rate-limits", "on").start().await
}

/// Changes the file, sends SIGHUP to all processes, and waits until each has logged this message. Returns
/// these lines.
async fn reload(world: &World, file: &Path, settings: &str, message: &str) -> Vec<Value> {
    let lines = || {
        let lines = world.log_lines().into_iter();
        lines.filter(move |line| line["message"] == message)
    };
    let former: Vec<Value> = lines().collect();
    let new = || -> Vec<Value> { lines().filter(|line| !former.contains(line)).collect() };
    std::fs::write(file, settings).unwrap();
    world.hang_up();
    let processes = world.pids().len();
    eventually("a process did not log", async || new().len() == processes).await;
    new()
}

/// Fails to sign in at each API, as a client behind a proxy at this address.
async fn fail_to_sign_in(world: &World, email: &str, address: &str) {
    let client = world.anyone().with("x-forwarded-for", address);
    for api in world.at_each_api(&client) {
        api.login(email, "a wrong password").await.expect(401);
    }
}

/// The lines about security events.
fn security_lines(world: &World) -> Vec<Value> {
    let lines = world.log_lines().into_iter();
    lines.filter(|line| line["target"] == "security").collect()
}

/// Expects that each API allows this many reads, one more write, and two more requests of an address.
async fn each_api_has_the_quotas(world: &World, quota: u32) {
    let user = world.user().await;
    let anyone = world.at_each_api(&world.anyone());
    for (api, anyone) in world.at_each_api(&user).into_iter().zip(anyone) {
        let draft = json!({ "title": "A draft" });
        for (limit, quota, call) in [
            ("reads", quota, api.get("/posts")),
            ("writes", quota + 1, api.post("/posts").json(&draft)),
            ("address", quota + 2, anyone.get("/posts")),
        ] {
            let reply = call.await;
            let policy = reply.header("ratelimit-policy");
            assert!(policy.contains(&format!("\"{limit}\";q={quota};")), "{reply}");
        }
    }
}

async fn a_server_takes_over_changed_settings(shape: Shape) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let world = start(shape, file.path()).await;
    let email = world.user().await.email.clone();
    each_api_has_the_quotas(&world, 100).await;
    fail_to_sign_in(&world, &email, "203.0.113.8").await;

    let message = "these settings have changed and take effect at the next start";
    for line in reload(&world, file.path(), CHANGED, message).await {
        assert_eq!(line["settings"], "keep-alive, session-idle", "{line}");
        assert_eq!(line["level"], "WARN", "{line}");
    }
    // The lines of what came before the signal are in the log by now.
    assert_eq!(security_lines(&world), Vec::<Value>::new());
    let lines = world.log_lines();
    let changed = lines
        .iter()
        .filter(|line| line["message"] == "the settings were read again");
    let changed: Vec<_> = changed.map(|line| &line["settings"]).collect();
    let names = "trusted-proxies, allowed-origins, rate-limit-reads, rate-limit-writes, \
                 rate-limit-address, log-level";
    assert_eq!(changed, vec![names; world.pids().len()]);
    world.expect_origin(ORIGIN).await;
    each_api_has_the_quotas(&world, 77).await;
    fail_to_sign_in(&world, &email, "203.0.113.9").await;
    eventually("the log level or the proxies are the former ones", async || {
        let lines = security_lines(&world);
        lines.iter().any(|line| line["address"] == "203.0.113.9")
    })
    .await;

    // The restart that the session lifetime needs is due until it happens.
    for line in reload(&world, file.path(), CHANGED, message).await {
        assert_eq!(line["settings"], "keep-alive, session-idle", "{line}");
    }
    reload(&world, file.path(), AT_START, "the settings were read again").await;
    each_api_has_the_quotas(&world, 100).await;
    world.anyone().login(&email, PASSWORD).await.expect(200);
}

async fn a_broken_file_changes_nothing(shape: Shape) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let world = start(shape, file.path()).await;
    reload(&world, file.path(), CHANGED, "the settings were read again").await;
    let path = file.path().display();
    for (settings, error) in [
        (
            "rate-limit-reads = 5\n\nallowed-origins = \"nowhere\"\n",
            format!("`allowed-origins` in {path}, line 3: "),
        ),
        (
            "rate-limit-reads = 5\nrate-limit-write = 5\n",
            format!("unknown key `rate-limit-write` in {path}, line 2: did you mean `rate-limit-writes`?"),
        ),
        (
            "rate-limit-reads = 5\nredis-url = \"redis://:hunter2@",
            format!("syntax error in {path}, line 2: "),
        ),
        (
            "rate-limit-reads = 5\nsession-idle = \"2h\"\nsession-max = \"1h\"\n",
            "SESSION_IDLE".to_owned(),
        ),
    ] {
        let message = "the settings stay as they were: they could not be read again";
        for line in reload(&world, file.path(), settings, message).await {
            let logged = line["error"].as_str().unwrap();
            assert!(logged.contains(&error), "{error}: {logged}");
            assert!(!logged.contains("hunter2"), "{logged}");
            assert_eq!(line["level"], "ERROR", "{line}");
        }
    }
    each_api_has_the_quotas(&world, 77).await;
    world.expect_origin(ORIGIN).await;
}

/// As when the terminal of a server is closed.
async fn without_a_file_the_signal_ends_the_server(world: World) {
    let ports = [world.issuer_ports(), world.api_ports()].concat();
    world.hang_up();
    for port in ports {
        eventually("the server still listens", async || {
            TcpStream::connect(("127.0.0.1", port)).await.is_err()
        })
        .await;
    }
}

fn each_reloaded_setting_exists_and_is_documented() {
    let command = CommonSettings::augment_args(Command::new("settings"));
    let defined: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    let page = tests::settings_page();
    let (_, section) = page.split_once("\n## Changes without a restart\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    for name in RELOADED_SETTINGS {
        assert!(defined.contains(&name), "{name}");
        assert!(section.contains(&format!("`{name}`")), "{name}: {section}");
    }
}

on_every_shape!(
    a_server_takes_over_changed_settings,
    a_broken_file_changes_nothing,
    without_a_file_the_signal_ends_the_server,
);

without_deployment!(each_reloaded_setting_exists_and_is_documented);
