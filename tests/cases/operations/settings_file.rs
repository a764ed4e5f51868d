//! The settings file: its precedence, and the errors that name its lines; the commands `config`.

mod access;

use clap::{Arg, Args as _, Command};
use runtime::settings::SETTINGS_OF_ONE_SERVICE;
use serde_json::{Value, json};
use tests::{Shape, SharedWorld, World, on_every_shape, without_deployment};

/// The programs of every shape take the settings of both services from one file.
async fn flags_come_first_then_variables_then_the_file(shape: Shape) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let settings = "# Settings of all programs\n\
                    brand-name = \"The name in the file\"\n\
                    terms-url = 'https://example.org/terms'\n\
                    password-min-length = 30\n\
                    allowed-origins = [\"https://app.example.org\", \"tauri://localhost\"]\n\
                    trusted-proxies = []\n\
                    storage-quota = \"1MiB\"\n";
    std::fs::write(file.path(), settings).unwrap();
    let setup = World::builder(shape)
        .without_nginx()
        .env("LATCHKEY_CONFIG", file.path().to_str().unwrap())
        .env("LATCHKEY_PASSWORD_MIN_LENGTH", "15");
    let world = setup.flag("--brand-name", "The name of the flag").start().await;
    let page = world.browser().open("/signup").await;
    let text = page.visible_text();
    assert!(text.contains("The name of the flag"), "{text}");
    assert!(!text.contains("The name in the file"), "{text}");
    let links: Vec<String> = page.links().iter().map(ToString::to_string).collect();
    let terms = "https://example.org/terms".to_owned();
    assert!(links.contains(&terms), "{links:?}");
    let sign_up = async |password: &str| {
        let body = json!({ "email": "ann@example.org", "password": password });
        world.anyone().post("/users").json(&body).await
    };
    let refused = sign_up("fourteen chars").await;
    refused.expect_validation_errors(&["/password"]);
    sign_up("fifteen letters").await.expect(201);
    let shown = world.cli(&["config", "show", "--json"], "");
    for (name, value, origin, line) in [
        ("brand-name", json!("The name of the flag"), "flag", None),
        ("password-min-length", json!("15"), "environment", None),
        (
            "allowed-origins",
            json!("https://app.example.org,tauri://localhost"),
            "file",
            Some(5),
        ),
        ("trusted-proxies", Value::Null, "file", Some(6)),
        ("sign-up", json!("on"), "default", None),
        ("metrics-listen", Value::Null, "default", None),
    ] {
        let expected =
            json!({ "name": name, "value": value, "redacted": false, "origin": origin, "line": line });
        assert_eq!(setting(&shown, name), &expected);
    }
}

/// The setting of this name in the output of `config show --json`.
fn setting<'a>(shown: &'a Value, name: &str) -> &'a Value {
    let mut settings = shown.as_array().unwrap().iter();
    settings.find(|setting| setting["name"] == name).unwrap()
}

async fn config_show_prints_no_secret(world: SharedWorld) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "dpop = \"off\"\n\nredis-url = \"redis://:hunter2@localhost\"\n",
    )
    .unwrap();
    let arguments = ["config", "show", "--config", file.path().to_str().unwrap()];
    for (json, text) in [
        (
            world.run_without_settings(&[&arguments[..], &["--json"]].concat()),
            world.run_without_settings(&arguments),
        ),
        (
            world.run_api_without_settings(&[&arguments[..], &["--json"]].concat()),
            world.run_api_without_settings(&arguments),
        ),
    ] {
        let shown: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(
            setting(&shown, "redis-url"),
            &json!({ "name": "redis-url", "value": null, "redacted": true, "origin": "file", "line": 3 })
        );
        let text = String::from_utf8(text.stdout).unwrap();
        for line in ["redis-url  (redacted)  file, line 3", "dpop  off  file, line 1"] {
            assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
        }
        assert!(!shown.to_string().contains("hunter2"), "{shown}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

async fn config_check_succeeds_if_the_server_would_start(world: SharedWorld) {
    let checked = world.run(&["config", "check"], "");
    assert!(checked.status.success(), "{checked:?}");
    assert!(
        checked.stdout.is_empty() && checked.stderr.is_empty(),
        "{checked:?}"
    );
    let key = "A".repeat(43);
    for (arguments, status) in [
        (vec!["config", "check", "--account-key", &key], 0),
        (vec!["config", "check"], 64),
        (vec![], 64),
    ] {
        let output = world.run_api_without_settings(&arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(error.contains("ACCOUNT_KEY is not set"), status == 64, "{error}");
    }
}

async fn errors_name_the_file_the_line_and_the_remedy(world: SharedWorld) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("latchkey.toml");
    let path = file.to_str().unwrap();
    for (settings, error) in [
        (
            "# A comment\n\nlisen = \"[::1]:8080\"",
            "unknown key `lisen` in FILE, line 3: did you mean `listen`?",
        ),
        (
            "base_url = \"https://example.org\"",
            "unknown key `base_url` in FILE, line 1: did you mean `base-url`?",
        ),
        (
            "jwks-ulr = \"https://example.org\"",
            "unknown key `jwks-ulr` in FILE, line 1: did you mean `jwks-url`?",
        ),
        (
            "master_key = \"a secret\"",
            "unknown key `master_key` in FILE, line 1: did you mean `master-key`?",
        ),
        (
            "LATCHKEY_BASE_URL = \"https://example.org\"",
            "unknown key `LATCHKEY_BASE_URL` in FILE, line 1: did you mean `base-url`?",
        ),
        ("\n42 = 42", "unknown key `42` in FILE, line 2"),
        ("\"4\\n2\" = 42", "unknown key `4\\n2` in FILE, line 1"),
        ("config = \"other.toml\"", "unknown key `config` in FILE, line 1"),
        ("dpop = \"on\"\n[api]", "unknown key `api` in FILE, line 2"),
        (
            "max-connections = \"10\"",
            "`max-connections` in FILE, line 1: expected a number",
        ),
        ("listen = 8080", "`listen` in FILE, line 1: expected a string"),
        ("[listen]", "`listen` in FILE, line 1: expected a string"),
        (
            "dpop = \"on\"\nsign-up = true",
            "`sign-up` in FILE, line 2: expected one of \"on\", \"off\"",
        ),
        (
            "trusted-proxies = [10]",
            "`trusted-proxies` in FILE, line 1: expected a string or an array of strings",
        ),
        (
            "listen = \"nowhere\"",
            "`listen` in FILE, line 1: invalid socket address",
        ),
        (
            "password-min-length = 7",
            "`password-min-length` in FILE, line 1: 7 is not in 8..=64",
        ),
        (
            "allowed-origins = [\"https://app.example.org\", \"localhost\"]",
            "`allowed-origins` in FILE, line 1: ",
        ),
        (
            "redis-url = \"http://:a secret@localhost\"",
            "`redis-url` in FILE, line 1: ",
        ),
        (
            "captcha-script-url = \"https://:secret@captcha.example\"",
            "`captcha-script-url` in FILE, line 1: it must not contain a user name or a password",
        ),
        (
            "log-format = \"xml\"",
            "`log-format` in FILE, line 1: invalid value 'xml'",
        ),
        (
            "dpop = \"on\"\ndpop = \"off\"",
            "syntax error in FILE, line 2: duplicate key",
        ),
        (
            "dpop = \"on\"\nredis-url = \"redis://:a secret@",
            "syntax error in FILE, line 2: ",
        ),
    ] {
        std::fs::write(&file, settings).unwrap();
        expect_refused(&world, path, &error.replace("FILE", path));
    }
    for (content, error) in [
        (vec![b'#'; 1024 * 1024 + 1], "the file is larger than 1 MiB"),
        (b"dpop = \"\xff\"".to_vec(), "the file is not UTF-8"),
    ] {
        std::fs::write(&file, content).unwrap();
        expect_refused(&world, path, &format!("CONFIG {path}: {error}"));
    }
    std::fs::remove_file(&file).unwrap();
    expect_refused(&world, path, &format!("CONFIG {path}: No such file"));
    std::fs::create_dir(&file).unwrap();
    expect_refused(&world, path, &format!("CONFIG {path}: Is a directory"));
    let empty = world.bash("LATCHKEY_CONFIG= api-server config check");
    let stderr = String::from_utf8_lossy(&empty.stderr);
    assert_eq!(empty.status.code(), Some(64), "{stderr}");
    assert!(stderr.contains("a value is required for '--config"), "{stderr}");
}

/// The precedence of flags is about the same setting only.
async fn a_setting_and_its_file_form_exclude_each_other(world: SharedWorld) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "redis-url-file = \"/run/secrets/redis-url\"\n").unwrap();
    let arguments = ["config", "check", "--config", file.path().to_str().unwrap()];
    let arguments = [&arguments[..], &["--redis-url", "redis://localhost"]].concat();
    for output in [
        world.run_without_settings(&arguments),
        world.run_api_without_settings(&arguments),
    ] {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{stderr}");
        let error = "REDIS_URL and REDIS_URL_FILE are both set: set only one of them; `config show`";
        assert!(stderr.contains(error), "{stderr}");
    }
}

/// Expects that the programs refuse the file with one line that contains this, and no secret.
fn expect_refused(world: &World, file: &str, error: &str) {
    let elsewhere = world.data_dir().with_file_name("elsewhere");
    // The flag does not hide that the file is wrong.
    let arguments = ["--config", file, "--listen", "127.0.0.1:0", "--data-dir"];
    let arguments = [&arguments[..], &[elsewhere.to_str().unwrap()]].concat();
    let check = [&["config", "check"][..], &arguments].concat();
    for output in [
        world.run_without_settings(&arguments),
        world.run_without_settings(&check),
        world.run_api_without_settings(&arguments),
        world.run_api_without_settings(&check),
    ] {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{error}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{error}: {stderr}");
        assert!(stderr.contains(error), "{error}: {stderr}");
        assert!(!stderr.contains("secret"), "{error}: {stderr}");
    }
    assert!(!elsewhere.exists(), "{error}: a failed start created files");
}

/// Each program accepts the keys of the service that is not in it by their names.
fn the_settings_of_one_service_are_known_to_all_programs() {
    let issuer = auth_server::settings::IssuerSettings::augment_args(Command::new("settings"));
    let api = api_server::settings::ApiSettings::augment_args(Command::new("settings"));
    let defined = issuer.get_arguments().chain(api.get_arguments());
    let defined: Vec<&str> = defined.filter_map(Arg::get_long).collect();
    assert_eq!(SETTINGS_OF_ONE_SERVICE.to_vec(), defined);
}

on_every_shape!(
    flags_come_first_then_variables_then_the_file,
    errors_name_the_file_the_line_and_the_remedy,
    a_setting_and_its_file_form_exclude_each_other,
    config_show_prints_no_secret,
    config_check_succeeds_if_the_server_would_start,
);

without_deployment!(the_settings_of_one_service_are_known_to_all_programs);
