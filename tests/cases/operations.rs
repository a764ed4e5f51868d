//! Operation: startup, settings, documentation, Redis, the database schema, security events, alerts.

mod alerts;
mod allocations;
mod backup;
mod clocks;
mod compose;
mod copy;
mod database_failures;
mod debian_package;
mod doctor;
mod documentation;
mod first_token;
mod from_a_clone;
mod healthcheck;
mod image;
mod imports;
mod kubernetes;
mod list_plans;
mod manual;
mod migrations;
mod observability;
mod pruning;
mod redis;
mod reload;
mod repeated_events;
mod rolling_restarts;
pub(crate) mod round_trips;
mod schema;
mod security_events;
mod settings_file;
mod socket_activation;
mod startup;
mod terminal;
mod traces;
mod units;

use clap::Args as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output};
use tests::root;

/// Every SQL statement of the programs, with its name.
fn statements() -> Vec<(String, String)> {
    [
        access_tokens::statements(),
        audit::statements(),
        identity::statements(),
        mail::statements(),
        revocation::statements(),
        storage::statements(),
        api_server::statements(),
        auth_server::statements(),
    ]
    .concat()
}

/// The text of a file of the repository.
fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Runs a command and returns what it prints.
fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let [printed, error] = [&stdout, &stderr].map(|text| String::from_utf8_lossy(text));
    assert!(status.success(), "{command:?}: {printed}{error}");
    String::from_utf8(stdout).unwrap()
}

/// The memory of a process under load, and of that with all else that it may hold, in MiB.
fn documented_memory() -> (u64, u64) {
    let page = read("docs/operate/performance.md");
    let (_, section) = page.split_once("\n## Containers\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let cells = section.lines().filter_map(|line| line.split(" | ").nth(1));
    let figures: Vec<u64> = cells.filter_map(|cell| cell.parse().ok()).collect();
    let [process, .., all] = figures[..] else {
        panic!("{section}");
    };
    assert_eq!(figures.iter().sum::<u64>(), 2 * all, "{section}");
    (process, all)
}

/// The text of a JSON string.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string"))
}

/// The variables of the settings that a program has as a separate server.
fn variables_of(program: &str) -> BTreeSet<String> {
    let common = runtime::settings::CommonSettings::augment_args(clap::Command::new("settings"));
    let settings = match program {
        "api-server" => api_server::settings::ApiSettings::augment_args(common),
        _ => auth_server::settings::IssuerSettings::augment_args(common),
    };
    let variables = settings
        .get_arguments()
        .filter_map(|argument| argument.get_env()?.to_str());
    variables.map(str::to_owned).collect()
}

/// The seconds that requests in progress have after a signal to stop.
fn drain_seconds() -> u64 {
    let server = read("shared/runtime/src/server.rs");
    let definition = "const DRAIN_TIMEOUT: Duration = Duration::from_secs(";
    let (_, drain) = server.split_once(definition).unwrap();
    drain.split_once(')').unwrap().0.parse().unwrap()
}
