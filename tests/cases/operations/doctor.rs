//! The command `doctor` of every program: a healthy installation has no finding, and each finding names its
//! cause.

pub(super) mod front_door;

use serde_json::Value;
use std::fs::File;
use std::process::Output;
use std::time::{Duration, UNIX_EPOCH};
use storage::execute;
use tests::{
    Authenticator, Shape, SharedWorld, SmtpBehavior, SmtpServer, World, on_every_shape, on_many_processes,
    on_one_shape, on_shapes,
};

/// A password that no output repeats.
const PASSWORD: &str = "hunter2-of-doctor";

/// A finding: the check, its state, the detail, and what to do.
type Finding = [String; 4];

/// Returns the findings that a command printed as JSON.
#[track_caller]
fn findings(output: &Output) -> Vec<Finding> {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains(PASSWORD), "{text}");
    let printed: Vec<Value> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let findings = printed.iter().map(|finding| {
        let member = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        ["check", "state", "detail", "remedy"].map(member)
    });
    let findings: Vec<Finding> = findings.collect();
    for [check, state, detail, remedy] in &findings {
        let is_problem = ["warning", "error"].contains(&state.as_str());
        assert_eq!(is_problem, !remedy.is_empty(), "{check}: {detail}");
    }
    let failed = findings.iter().any(|[_, state, ..]| state == "error");
    assert_eq!(output.status.code(), Some(i32::from(failed)), "{findings:#?}");
    findings
}

/// Expects that a check has this state, and a detail that contains this.
#[track_caller]
fn expect(output: &Output, check: &str, state: &str, detail: &str) {
    let findings = findings(output);
    let found = findings.iter().find(|[name, ..]| name == check);
    let [_, found_state, found_detail, _] = found.unwrap_or_else(|| panic!("no {check}: {findings:#?}"));
    assert!(
        found_state == state && found_detail.contains(detail),
        "{check}: expected {state}, {detail:?}: {findings:#?}"
    );
}

/// Expects that no check found anything, and returns their names. The disk is that of the machine.
#[track_caller]
fn expect_healthy(output: &Output) -> Vec<String> {
    let findings = findings(output);
    for [check, state, ..] in &findings {
        let is_healthy = ["ok", "skipped"].contains(&state.as_str()) || check == "disk";
        assert!(is_healthy, "{check} is {state}: {findings:#?}");
    }
    findings.into_iter().map(|[check, ..]| check).collect()
}

/// The listen address of a process, which commands do not know in a deployment of tests.
fn listen(ports: &[u16]) -> String {
    format!("127.0.0.1:{}", ports[0])
}

async fn a_healthy_installation_has_no_finding(world: SharedWorld) {
    let (issuer, api) = (listen(&world.issuer_ports()), listen(&world.api_ports()));
    let of_issuer = world.run(&["doctor", "--json", "--listen", &issuer], "");
    let of_api = world.run_api_with(&[], &["doctor", "--json", "--listen", &api]);
    let (of_issuer, of_api) = (expect_healthy(&of_issuer), expect_healthy(&of_api));
    for check in ["settings", "disk", "backups", "redis", "database", "clock"] {
        let has = |checks: &[String]| checks.iter().any(|name| name == check);
        assert!(has(&of_issuer) && has(&of_api), "{check}");
    }
    for check in ["migrations", "signing-keys", "master-key", "account-key", "mail"] {
        assert!(of_issuer.iter().any(|name| name == check), "{check}");
    }
    assert!(of_api.iter().any(|name| name == "jwks"), "{of_api:?}");
    if world.shape == Shape::Split {
        for check in ["redis-eviction", "redis-clock", "rights"] {
            assert!(of_issuer.iter().any(|name| name == check), "{check}");
        }
        assert!(of_api.iter().any(|name| name == "issuer"), "{of_api:?}");
    }
    let printed = world.run(&["doctor", "--listen", &issuer], "");
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(
        text.starts_with("ok  settings  the server starts with them\n"),
        "{text}"
    );
    world.expect_no_secrets_in(&text, "the report");
}

async fn each_finding_names_its_cause(world: World) {
    let address = listen(&world.issuer_ports());
    let doctor = ["doctor", "--json", "--listen", &address];
    let smtp_url = format!("smtp://user:{PASSWORD}@127.0.0.1:1");
    let output = world.run_issuer_with(&[("--smtp-url", smtp_url.as_str())], &doctor);
    expect(&output, "mail", "error", "cannot connect");
    expect_login_at_smtp_server(&world, &doctor).await;
    expect_file_in_outbox(&world, &doctor);
    let redis_url = format!("redis://:{PASSWORD}@127.0.0.1:1");
    let output = world.run_issuer_with(&[("--redis-url", redis_url.as_str())], &doctor);
    expect(&output, "redis", "error", "Redis");
    let database_url = format!("postgres://user:{PASSWORD}@127.0.0.1:1/latchkey");
    let output = world.run_issuer_with(&[("--database-url", database_url.as_str())], &doctor);
    expect(&output, "database", "error", "the database is unavailable");
    expect(&output, "signing-keys", "skipped", "is not there yet");
    let is_production = world.run_issuer_with(&[("--issuer", "https://id.example.org")], &doctor);
    expect(&is_production, "settings", "error", "BASE_URL");
    expect(&is_production, "mail", "warning", "outbox");
    let other_key = world.data_dir().with_file_name("other.key");
    std::fs::write(&other_key, "A".repeat(43)).unwrap();
    let other_key = other_key.display().to_string();
    let output = world.run_issuer_with(&[("--master-key-file", other_key.as_str())], &doctor);
    expect(&output, "master-key", "error", "is sealed under another key");
    Authenticator::enable(&world, &world.user().await).await;
    let output = world.run_issuer_with(&[("--account-key-file", other_key.as_str())], &doctor);
    expect(&output, "account-key", "error", "another key sealed");
    let unreachable = "http://127.0.0.1:1/.well-known/jwks.json";
    let elsewhere = ["doctor", "--json", "--listen", "127.0.0.1:1"];
    let output = world.run_api_with(&[("--jwks-url", unreachable)], &elsewhere);
    expect(&output, "jwks", "error", "127.0.0.1:1");
    if world.shape == Shape::Split {
        let output = world.run_api_with(&[("--audience", "https://other.test")], &doctor);
        expect(&output, "issuer", "error", "the audience https://other.test");
    }
    let db = world.db().await;
    execute!(db.writer(), "DELETE FROM _sqlx_migrations").unwrap();
    let output = world.run(&doctor, "");
    expect(&output, "migrations", "warning", "pending migrations: ");
    expect(&output, "signing-keys", "skipped", "");
}

/// The check of an SMTP server includes its login.
async fn expect_login_at_smtp_server(world: &World, doctor: &[&str]) {
    let server = SmtpServer::start(SmtpBehavior::AcceptsAll).await;
    let url = server.url().replace("//", &format!("//user:{PASSWORD}@"));
    let output = world.run_issuer_with(&[("--smtp-url", url.as_str())], doctor);
    expect(&output, "mail", "ok", "accepts the connection and the login");
    assert!(
        server.transcript().contains("AUTH PLAIN "),
        "{}",
        server.transcript()
    );
    server.set(SmtpBehavior::RefusesLogins);
    let output = world.run_issuer_with(&[("--smtp-url", url.as_str())], doctor);
    expect(&output, "mail", "error", "535");
    assert_eq!(server.received().len(), 0);
}

/// The check of the directory of mails writes a file.
fn expect_file_in_outbox(world: &World, doctor: &[&str]) {
    let directory = world.data_dir().with_file_name("read-only");
    std::fs::create_dir(&directory).unwrap();
    // A directory in which nobody can create a file, not even root.
    std::os::unix::fs::symlink("/proc/self", directory.join("outbox")).unwrap();
    let directory = directory.to_str().unwrap();
    let output = world.run_issuer_with(&[("--data-dir", directory)], doctor);
    expect(&output, "mail", "error", "mail directory: ");
}

async fn missing_and_late_signing_keys_are_errors(shape: Shape) {
    let mut world = World::builder(shape).clock().start().await;
    world.kill();
    world.advance(Duration::from_secs(3650 * 86_400));
    let doctor = ["doctor", "--json"];
    expect(
        &world.run(&doctor, ""),
        "signing-keys",
        "error",
        "has been due since",
    );
    // Rows of signing keys cannot be deleted.
    let retire = "UPDATE signing_keys SET state = 'retired', retired_at = activated_at + 3600000000, \
                  dead_after = activated_at + 4260000000 WHERE state = 'active'";
    let db = world.db().await;
    execute!(db.writer(), retire).unwrap();
    expect(
        &world.run(&doctor, ""),
        "signing-keys",
        "error",
        "no key is active",
    );
    let activate =
        "UPDATE signing_keys SET state = 'active', activated_at = sign_after WHERE state = 'staged'";
    execute!(db.writer(), activate).unwrap();
    expect(
        &world.run(&doctor, ""),
        "signing-keys",
        "warning",
        "no key is staged",
    );
}

async fn a_clock_that_differs_is_an_error(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let doctor = ["doctor", "--json"];
    world.advance_programs(Duration::from_secs(45));
    expect(
        &world.run(&doctor, ""),
        "clock",
        "error",
        "by 45.0 s (limit 30 s)",
    );
    world.set_programs_back(Duration::from_secs(35));
    expect(
        &world.run(&doctor, ""),
        "clock",
        "warning",
        "by 10.0 s (limit 30 s)",
    );
    // Redis has the clock of this machine.
    world.advance_programs(Duration::from_hours(1));
    expect(&world.run(&doctor, ""), "redis-clock", "warning", "that of Redis");
}

async fn an_evicting_redis_and_a_login_without_rights_are_errors(world: World) {
    let doctor = ["doctor", "--json"];
    let evict = ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"];
    world.redis().command(&evict);
    expect(&world.run(&doctor, ""), "redis-eviction", "error", "allkeys-lru");
    let owner = world.database_url();
    let output = world.run_api_with(&[("--database-url", owner.as_str())], &doctor);
    expect(&output, "rights", "warning", "can read the signing keys");
    let db = world.db().await;
    execute!(db.writer(), "GRANT SELECT ON authorization_codes TO latchkey_api").unwrap();
    let output = world.run_api_with(&[], &doctor);
    expect(&output, "rights", "warning", "can read the signing keys");
    // Roles belong to the server, on which the test may have run before.
    let _ = execute!(db.writer(), "CREATE ROLE doctor_without_rights LOGIN");
    let powerless = owner.replace("postgres://postgres@", "postgres://doctor_without_rights@");
    let flags = [("--database-url", powerless.as_str())];
    let of_api = world.run_api_with(&flags, &doctor);
    expect(
        &of_api,
        "rights",
        "error",
        "lacks the rights of the role latchkey_api",
    );
    let of_issuer = world.run_issuer_with(&flags, &doctor);
    expect(&of_issuer, "migrations", "error", "permission denied");
    for (grant, state, detail) in [
        (
            "GRANT SELECT ON _sqlx_migrations TO doctor_without_rights",
            "error",
            "may not read and write every table",
        ),
        (
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO doctor_without_rights",
            "warning",
            "may not change the schema",
        ),
    ] {
        execute!(db.writer(), grant).unwrap();
        let of_issuer = world.run_issuer_with(&flags, &doctor);
        expect(&of_issuer, "rights", state, detail);
    }
}

async fn an_installation_before_its_first_start_is_not_created(world: SharedWorld) {
    let directory = tempfile::tempdir().unwrap();
    let data_dir = directory.path().join("data");
    let arguments = ["doctor", "--json", "--data-dir", data_dir.to_str().unwrap()];
    let output = world.run_without_settings(&arguments);
    expect(&output, "database", "warning", "does not exist");
    expect(&output, "mail", "skipped", "DATA_DIR");
    assert!(!data_dir.exists());
    std::fs::create_dir(&data_dir).unwrap();
    let output = world.run_without_settings(&arguments);
    expect(&output, "mail", "skipped", "DATA_DIR/outbox");
    assert_eq!(data_dir.read_dir().unwrap().count(), 0);
}

async fn the_newest_backup_may_be_too_old_or_no_backup(world: SharedWorld) {
    let directory = tempfile::tempdir().unwrap();
    let arguments = [
        "doctor",
        "--json",
        "--backups",
        directory.path().to_str().unwrap(),
    ];
    expect(&world.run(&arguments, ""), "backups", "error", "has no file");
    File::create(directory.path().join("failed.db")).unwrap();
    expect(&world.run(&arguments, ""), "backups", "error", "has no file");
    let backup = directory.path().join("backup.db");
    std::fs::write(&backup, "content").unwrap();
    expect(&world.run(&arguments, ""), "backups", "ok", "old");
    let file = File::options().write(true).open(&backup).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    for (modified, detail) in [
        (UNIX_EPOCH, "(limit 26 hours)"),
        (written + Duration::from_hours(1), "in the future"),
    ] {
        file.set_modified(modified).unwrap();
        expect(&world.run(&arguments, ""), "backups", "error", detail);
    }
}

on_every_shape!(
    a_healthy_installation_has_no_finding,
    each_finding_names_its_cause,
    missing_and_late_signing_keys_are_errors,
);
on_many_processes!(
    a_clock_that_differs_is_an_error,
    an_evicting_redis_and_a_login_without_rights_are_errors,
);
on_one_shape!(the_newest_backup_may_be_too_old_or_no_backup);
on_shapes!(an_installation_before_its_first_start_is_not_created: sqlite Sqlite);
