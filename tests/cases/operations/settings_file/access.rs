//! The access of other users to a settings file with secrets.

use super::expect_refused;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::NamedTempFile;
use tests::{SharedWorld, on_every_shape};

const WITH_PASSWORD: &str = "dpop = \"on\"\nredis-url = \"redis://:secret@localhost\"";

/// A settings file with this mode.
fn file(settings: &str, mode: u32) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), settings).unwrap();
    std::fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
    file
}

/// The remedy names the group: without it, `chmod` would lock the service out.
async fn secrets_to_which_every_user_has_access_are_refused(world: SharedWorld) {
    for (name, settings, mode) in [
        ("redis-url", WITH_PASSWORD, 0o644),
        ("redis-url", WITH_PASSWORD, 0o604),
        ("redis-url", WITH_PASSWORD, 0o602),
        (
            "redis-url",
            "\nredis-url = \"redis+unix:///run/redis.sock?pass=secret\"",
            0o644,
        ),
        (
            "database-url",
            "\ndatabase-url = \"postgres://db.internal/latchkey?password=secret\"",
            0o644,
        ),
        ("account-key", "\naccount-key = \"secret\"", 0o644),
    ] {
        let file = file(settings, mode);
        let path = file.path().to_str().unwrap();
        let remedy = format!("set `{name}-file` instead, or run `chgrp GROUP {path} && chmod 640 {path}`");
        let error = format!("`{name}` in {path}, line 2: every user has access to the file: {remedy}");
        expect_refused(&world, path, &error);
    }
}

/// Its path may be a token.
async fn the_url_of_a_webhook_is_a_secret(world: SharedWorld) {
    let file = file("alert-webhook-url = \"https://hooks.example/T0\"", 0o644);
    let path = file.path().to_str().unwrap();
    let output = world.run_without_settings(&["config", "show", "--config", path]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{stderr}");
    let remedy = "set `alert-webhook-url-file` instead";
    assert!(stderr.contains(remedy), "{stderr}");
}

/// A group may read secrets, because that of a service has no other members.
async fn files_without_secrets_and_those_of_a_group_are_accepted(world: SharedWorld) {
    for (settings, mode) in [
        (WITH_PASSWORD, 0o600),
        (WITH_PASSWORD, 0o640),
        ("redis-url-file = \"/run/secrets/redis-url\"", 0o644),
        ("redis-url = \"redis://redis.internal\"", 0o644),
        ("database-url = \"postgres://api@db.internal/latchkey\"", 0o644),
        ("database-url = \"sqlite:latchkey.db\"", 0o644),
        ("smtp-url = \"smtp://mail.internal?tls=required\"", 0o644),
    ] {
        let file = file(settings, mode);
        let arguments = ["config", "show", "--config", file.path().to_str().unwrap()];
        for output in [
            world.run_without_settings(&arguments),
            world.run_api_without_settings(&arguments),
        ] {
            assert!(output.status.success(), "{settings}, {mode:o}: {output:?}");
        }
    }
}

on_every_shape!(
    secrets_to_which_every_user_has_access_are_refused,
    the_url_of_a_webhook_is_a_secret,
    files_without_secrets_and_those_of_a_group_are_accepted,
);
