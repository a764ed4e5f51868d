//! The units for systemd in `deploy/systemd`.

use super::{drain_seconds, read, variables_of};
use std::collections::BTreeSet;
use std::process::{Command, Output};
use tests::{SharedWorld, on_shapes, without_deployment};

/// The largest exposure that `systemd-analyze security` may find, in tenths.
const MAX_EXPOSURE: &str = "20";
/// The units and their programs.
pub(super) const UNITS: [(&str, &str); 3] = [
    ("latchkey.service", "latchkey"),
    ("latchkey-auth.service", "auth-server"),
    ("latchkey-api.service", "api-server"),
];

pub(super) fn unit(name: &str) -> String {
    read(&format!("deploy/systemd/{name}"))
}

/// The values of a key of a unit, in their order.
pub(super) fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .collect()
}

/// Analyzes units by their names, with a program that every machine has in place of Latchkey's.
fn analyze(arguments: &[&str], units: &[(&str, String)]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let paths = units.iter().map(|(name, unit)| {
        let unit = match values(unit, "ExecStart")[..] {
            [program] => unit.replace(program, "/bin/true"),
            _ => unit.clone(),
        };
        let path = dir.path().join(name);
        std::fs::write(&path, unit).unwrap();
        path
    });
    let mut command = Command::new("systemd-analyze");
    command.args(arguments).args(paths).output().unwrap()
}

/// Expects that systemd finds no error in units.
fn expect_valid(units: &[(&str, String)]) {
    // Other units of the machine, which are read too, may have errors of their own.
    let verified = analyze(&["verify", "--man=no", "--recursive-errors=no"], units);
    assert!(verified.status.success(), "{verified:?}");
}

/// Expects that systemd finds no error in the units of services, and that their sandbox leaves little
/// exposed.
pub(super) fn expect_sound(units: &[(&str, String)]) {
    expect_valid(units);
    let threshold = format!("--threshold={MAX_EXPOSURE}");
    let output = analyze(&["security", "--offline=true", "--no-pager", &threshold], units);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    let rated = report.matches("Overall exposure level").count();
    assert_eq!(rated, units.len(), "{report}");
}

fn the_units_are_sound_and_have_the_same_sandbox() {
    expect_sound(&UNITS.map(|(name, _)| (name, unit(name))));
    let sandboxes = UNITS.map(|(name, _)| unit(name).split_once("# The sandbox.").unwrap().1.to_owned());
    assert!(sandboxes.iter().all(|sandbox| *sandbox == sandboxes[0]));
}

/// The services with the drop-in. A server refuses a socket with another address than that of its settings.
fn the_sockets_are_valid_and_have_the_addresses_of_the_services() {
    let sockets = UNITS.map(|(name, _)| name.replace(".service", ".socket"));
    let mut units: Vec<(&str, String)> = Vec::new();
    for ((name, _), socket) in UNITS.iter().zip(&sockets) {
        units.push((*name, unit(name) + &unit("socket.conf")));
        units.push((socket.as_str(), unit(socket)));
    }
    expect_valid(&units);
    for pair in units.chunks(2) {
        let settings = values(&pair[0].1, "Environment").into_iter();
        let mut listen = settings.filter_map(|setting| setting.strip_prefix("LATCHKEY_LISTEN="));
        let address = listen.next().unwrap_or("127.0.0.1:8080");
        assert_eq!(values(&pair[1].1, "ListenStream"), [address]);
    }
}

/// systemd kills a service that has not ended by then.
fn a_stop_lasts_longer_than_the_drain() {
    for (name, _) in UNITS {
        let unit = unit(name);
        let stop: u64 = values(&unit, "TimeoutStopSec")[0].parse().unwrap();
        // Then the server finishes its writes and closes the database.
        assert!(stop >= drain_seconds() + 5, "{name}: {stop}");
    }
}

/// The start of the issuer ends after its migrations, before that of the API begins. A database that is away
/// at the start comes back, and an invalid setting stays invalid.
fn systemd_waits_for_a_service_and_starts_it_again() {
    for (name, program) in UNITS {
        let unit = unit(name);
        if program != "api-server" {
            assert_eq!(values(&unit, "TimeoutStartSec"), ["infinity"], "{name}");
        }
        for (key, value) in [
            ("Type", "notify"),
            ("Restart", "on-failure"),
            ("RestartPreventExitStatus", "64"),
            ("StartLimitIntervalSec", "0"),
        ] {
            assert_eq!(values(&unit, key), [value], "{name}: {key}");
        }
        // `config check` fails for a file with an error, so no signal is sent.
        let check = format!("/usr/local/bin/{program} config check");
        assert_eq!(values(&unit, "ExecReload"), [&check, "kill -HUP $MAINPID"]);
    }
}

/// The services differ by user, and each gets the credentials of its own settings only.
fn each_unit_sets_settings_of_its_program() {
    for (name, program) in UNITS {
        let unit = unit(name);
        let defined = variables_of(program);
        let mut used = BTreeSet::new();
        for setting in values(&unit, "Environment") {
            let (variable, value) = setting.split_once('=').unwrap();
            assert!(defined.contains(variable), "{name}: {variable}");
            used.extend(value.strip_prefix("%d/"));
        }
        let loaded = values(&unit, "LoadCredential").into_iter();
        let loaded: BTreeSet<&str> = loaded.map(|loaded| loaded.split_once(':').unwrap().0).collect();
        assert_eq!(used, loaded, "{name}");
        assert_eq!(values(&unit, "ExecStart"), [format!("/usr/local/bin/{program}")]);
    }
}

/// The program would start with the environment of its unit, an example of a settings file and the
/// credentials.
async fn the_settings_of_the_units_are_valid(world: SharedWorld) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let file = dir.join("latchkey.toml");
    std::fs::write(&file, "base-url = \"https://id.example.org\"\n").unwrap();
    let key = "A".repeat(43);
    for (name, secret) in [
        ("master-key", key.as_str()),
        ("account-key", key.as_str()),
        ("database-url", "postgres://issuer:change-me@localhost/latchkey"),
        ("redis-url", "redis://localhost"),
    ] {
        std::fs::write(dir.join(name), secret).unwrap();
    }
    for (name, program) in UNITS {
        let unit = unit(name);
        let environment = values(&unit, "Environment").join(" ");
        let environment = environment
            .replace("%d/", &format!("{}/", dir.display()))
            .replace("/etc/latchkey/latchkey.toml", file.to_str().unwrap())
            .replace("/var/lib/", &format!("{}/", dir.display()));
        let output = world.bash(&format!(
            "env -i PATH=\"$PATH\" {environment} {program} config check"
        ));
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

on_shapes!(the_settings_of_the_units_are_valid: sqlite Sqlite);

without_deployment!(
    the_units_are_sound_and_have_the_same_sandbox,
    the_sockets_are_valid_and_have_the_addresses_of_the_services,
    a_stop_lasts_longer_than_the_drain,
    systemd_waits_for_a_service_and_starts_it_again,
    each_unit_sets_settings_of_its_program,
);
