//! Startup: first start, restart, settings and commands.

use crate::oauth::signing_keys;
use foundation::role::Role;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use storage::fetch_all;
use tests::{
    PASSWORD, RedisServer, Shape, SharedWorld, SmtpBehavior, SmtpServer, StubServer, World, eventually,
    on_every_shape, on_many_processes, on_one_process, on_shapes,
};

async fn keys(world: &World) -> Vec<(String, String)> {
    let query = "SELECT kid, state FROM signing_keys ORDER BY state";
    fetch_all!(world.db().await.reader(), (String, String), query).unwrap()
}

async fn the_first_start_creates_keys_an_administrator_and_the_demo_client(world: World) {
    let mode = |name: &str| {
        world
            .data_dir()
            .join(name)
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for secret in ["master.key", "admin-password"] {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
    let states: Vec<String> = keys(&world).await.into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["active", "staged"]);
    let users = world.cli(&["users", "list", "--json"], "");
    assert_eq!(users.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&users[0]["email"], &users[0]["role"]),
        (&json!("admin@localhost"), &json!("admin"))
    );
    let clients = world.cli(&["clients", "list", "--json"], "");
    let ids: Vec<&Value> = clients
        .as_array()
        .unwrap()
        .iter()
        .map(|client| &client["id"])
        .collect();
    assert_eq!(ids, ["demo", "demo-app", "reference"]);
    assert_eq!(clients[0]["first_party"], json!(true));
    let listed = world.cli(&["keys", "list", "--json"], "");
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    assert!(!listed.to_string().contains("private"), "{listed}");
    let front = world.browser().open("/").await;
    let text = front.visible_text();
    let file = world.data_dir().join("admin-password").display().to_string();
    for words in ["First steps", "admin@localhost", &file, "Create the first app"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let password = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(password.trim()), "{text}");
}

async fn the_front_page_leads_newcomers_on(world: SharedWorld) {
    let front = world.browser().open("/").await;
    front.expect_page_within_origin();
    let text = front.visible_text();
    for words in [
        "Welcome to Latchkey",
        "Documentation",
        "Introduction and API reference",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for link in front.links() {
        let reply = world.browser().open(link.path()).await.reply;
        assert!(matches!(reply.status, 200 | 303), "{link}: {reply}");
    }
    let links: Vec<String> = front.links().iter().map(|link| link.path().to_owned()).collect();
    for path in ["/signup", "/signin", "/docs"] {
        assert!(links.iter().any(|link| link == path), "{path}: {links:?}");
    }
}

async fn issuers_that_start_together_share_one_installation(shape: Shape) {
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        let world = World::builder(shape).issuers_start_together().start().await;
        let states: Vec<String> = keys(&world).await.into_iter().map(|(_, state)| state).collect();
        assert_eq!(states, ["active", "staged"]);
        let mut sets = Vec::new();
        for issuer in world.at_each_issuer(&world.anyone()) {
            sets.push(issuer.get("/.well-known/jwks.json").await.expect(200).text());
        }
        assert_eq!(sets[0], sets[1]);
    }
}

async fn a_second_start_changes_nothing(mut world: World) {
    let snapshot = |world: &World| -> Vec<Value> {
        let lists = ["users", "clients"].map(|noun| world.cli(&[noun, "list", "--json"], ""));
        [lists.to_vec(), signing_keys::list(world)].concat()
    };
    let secrets = |world: &World| -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(world.data_dir()).unwrap().flatten();
        let files = files.filter(|file| {
            let name = file.file_name();
            name != "outbox" && !name.to_string_lossy().contains(".db")
        });
        let mut files: Vec<_> = files
            .map(|file| {
                (
                    file.file_name().to_string_lossy().into_owned(),
                    std::fs::read(file.path()).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    };
    let ann = world.user().await;
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let (before, files) = (snapshot(&world), secrets(&world));
    world.stop().await;
    world.restart().await;
    assert_eq!(snapshot(&world), before);
    assert_eq!(secrets(&world), files);
    ann.get("/me").await.expect(200);
    world.expect_accepted(&tokens.access).await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    if world.shape != Shape::Split {
        let front = world.browser().open("/").await.visible_text();
        assert!(!front.contains("First steps"), "{front}");
    }
}

async fn answered_writes_survive_a_kill(mut world: World) {
    let ann = world.user().await;
    let post = ann.publish("A post").await;
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    world.kill();
    world.restart().await;
    assert_eq!(ann.get(&post.path).await.expect(200).json(), post.record);
    app.refresh(&world.anyone(), &tokens.refresh)
        .await
        .expect_token_error(400, "invalid_grant");
    world.expect_revoked(&tokens.access).await;
}

async fn help_shows_every_setting(world: SharedWorld) {
    let output = world.run(&["--help"], "");
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    for setting in [
        "CONFIG",
        "LISTEN",
        "BASE_URL",
        "ISSUER",
        "AUDIENCE",
        "JWKS_URL",
        "DATA_DIR",
        "DATABASE_URL",
        "DATABASE_URL_FILE",
        "REDIS_URL",
        "REDIS_URL_FILE",
        "MASTER_KEY",
        "MASTER_KEY_FILE",
        "MASTER_KEY_PREVIOUS",
        "MASTER_KEY_PREVIOUS_FILE",
        "ACCOUNT_KEY",
        "ACCOUNT_KEY_FILE",
        "JWKS_MAX_AGE",
        "SIGNING_KEY_LIFETIME",
        "METRICS_LISTEN",
        "OTLP_URL",
        "OTLP_HEADERS_FILE",
        "TRACES_PER_THOUSAND",
        "EVENTS_KEPT",
        "ALERT_WEBHOOK_URL",
        "ALERT_WEBHOOK_URL_FILE",
        "ALERT_WEBHOOK_SECRET",
        "ALERT_WEBHOOK_SECRET_FILE",
        "LOGIN_FAILURES_ACCOUNT",
        "LOGIN_FAILURES_ADDRESS",
        "CAPTCHA_VERIFY_URL",
        "CAPTCHA_SECRET",
        "CAPTCHA_SECRET_FILE",
        "CAPTCHA_SITE_KEY",
        "CAPTCHA_SCRIPT_URL",
        "CAPTCHA_SOURCES",
        "TRUSTED_PROXIES",
        "ALLOWED_ORIGINS",
        "MAX_CONNECTIONS",
        "REQUEST_MEMORY",
        "RESPONSE_MEMORY",
        "KEEP_ALIVE",
        "LOG_FORMAT",
        "LOG_LEVEL",
        "SESSION_IDLE",
        "SESSION_MAX",
        "RESET_LINK_LIFETIME",
        "EMAIL_LINK_LIFETIME",
        "CONFIRMATIONS_PER_DOMAIN",
        "SMTP_URL",
        "SMTP_URL_FILE",
        "MAIL_FROM",
        "PASSWORD_MIN_LENGTH",
        "ARGON2_MEMORY",
        "ARGON2_PASSES",
        "ARGON2_PERMITS",
    ] {
        assert!(
            help.contains(&format!("LATCHKEY_{setting}")),
            "{setting} is missing:\n{help}"
        );
        let flag = format!("--{}", setting.to_lowercase().replace('_', "-"));
        assert!(help.contains(&flag), "{flag} is missing:\n{help}");
    }
}

async fn invalid_settings_fail_with_a_one_line_error(world: World) {
    for arguments in [
        vec!["--listen", "nonsense"],
        vec!["--listen", "127.0.0.1:99999"],
        vec!["--base-url", "localhost"],
        vec!["--base-url", "http://localhost/path"],
        vec!["--database-url", "mysql://localhost/x"],
        vec!["--database-url", "sqlite::memory:"],
        vec!["--database-url-file", "/nonexistent/url"],
        vec![
            "--database-url",
            "sqlite:x.db",
            "--database-url-file",
            "/nonexistent/url",
        ],
        vec!["--redis-url-file", "/nonexistent/url"],
        vec!["--smtp-url-file", "/nonexistent/url"],
        // A file with something else than the value.
        vec!["--database-url-file", "/dev/null"],
        vec!["--redis-url-file", "/dev/null"],
        vec!["--smtp-url-file", "/dev/null"],
        vec!["--allowed-origins", "capacitor://localhost/app"],
        vec!["--keep-alive", "0s"],
        vec!["--session-idle", "forever"],
        vec!["--session-idle", "2h", "--session-max", "1h"],
        vec!["--argon2-memory", "8"],
        vec!["--trusted-proxies", "everyone"],
        vec!["--log-format", "xml"],
        vec!["--master-key", "short"],
        vec!["--master-key-file", "/nonexistent/key"],
        vec!["--master-key-previous", "short"],
        vec!["--master-key-previous-file", "/nonexistent/key"],
        vec!["--account-key", "short"],
        vec!["--account-key-file", "/nonexistent/key"],
        vec!["--listen", "0.0.0.0:0"],
        vec!["--listen", "0.0.0.0:0", "--base-url", "http://example.org"],
        vec![
            "--base-url",
            "https://example.org",
            "--issuer",
            "http://example.org",
        ],
        vec!["--issuer", "https://example.org"],
        vec![
            "--base-url",
            "http://example.org",
            "--issuer",
            "https://example.org",
        ],
        vec![
            "--base-url",
            "http://localhost:8080",
            "--issuer",
            "https://example.org",
        ],
        vec!["--smtp-url", "mail.example.org"],
        vec!["--smtp-url", "http://mail.example.org"],
        vec!["--smtp-url", "smtp://mail.example.org?tls=maybe"],
        vec!["--mail-from", "nobody"],
        vec![
            "--base-url",
            "https://example.org",
            "--smtp-url",
            "smtp://mail.example.org",
        ],
        vec!["--jwks-max-age", "31d"],
        vec!["--signing-key-lifetime", "299s"],
        vec!["--metrics-listen", "everywhere"],
        vec!["--events-kept", "59m"],
        vec!["--alert-webhook-url", "https://example.org/hook"],
        vec!["--alert-webhook-secret", "a secret of 16 bytes and more"],
        vec![
            "--alert-webhook-url",
            "nowhere",
            "--alert-webhook-secret",
            "a secret of 16 bytes and more",
        ],
        vec![
            "--alert-webhook-url",
            "http://example.org/hook",
            "--alert-webhook-secret",
            "a secret of 16 bytes and more",
        ],
        vec![
            "--alert-webhook-url",
            "https://example.org/hook",
            "--alert-webhook-secret",
            "short",
        ],
        vec!["--login-failures-account", "4"],
        vec!["--login-failures-address", "many"],
        vec!["--captcha-site-key", "key"],
        vec!["--captcha-script-url", "https://captcha.example/api.js"],
        vec!["--captcha-sources", "https://captcha.example"],
        vec!["--captcha-sources", "https://captcha.example; script-src *"],
        vec![
            "--captcha-verify-url",
            "https://captcha.example/v",
            "--captcha-secret",
            "a secret",
        ],
        vec![
            "--captcha-verify-url",
            "http://captcha.example/v",
            "--captcha-secret",
            "a secret",
            "--captcha-site-key",
            "key",
        ],
        vec!["--client-id-metadata-documents", "https://app.example"],
        vec!["--client-id-metadata-documents", ""],
        vec![
            "--client-id-metadata-documents",
            "any",
            "--pushed-authorization-requests",
            "required",
        ],
        vec!["--no-such-flag"],
        vec!["no-such-command"],
    ] {
        let elsewhere = unused_data_dir(&world);
        for command in [vec![], vec!["config", "check"]] {
            let given = [&command[..], &["--data-dir", &elsewhere], &arguments].concat();
            let output = world.run_without_settings(&given);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(64), "{given:?}: {stderr}");
            assert_eq!(stderr.trim_end().lines().count(), 1, "{given:?}: {stderr}");
        }
        assert!(
            !std::path::Path::new(&elsewhere).exists(),
            "{arguments:?}: a failed start created files"
        );
    }
}

/// Each program of a production installation checks the URLs, also that of an API whose issuer is on another
/// machine.
async fn plain_http_in_production_is_refused(world: World) {
    let (database, redis, key) = (world.database_url(), world.redis().url(), "A".repeat(43));
    let (production, plain) = ("https://id.example.org", "http://id.example.org");
    for (base_url, issuer, refused) in [
        (plain, production, "BASE_URL http://id.example.org"),
        (
            "http://localhost:8080",
            production,
            "BASE_URL http://localhost:8080",
        ),
        (production, plain, "ISSUER http://id.example.org"),
    ] {
        let urls = ["--base-url", base_url, "--issuer", issuer];
        let stores = ["--database-url", &database, "--redis-url", &redis];
        let arguments = [urls, stores].concat();
        let with_key = [&arguments[..], &["--master-key", &key]].concat();
        for output in [
            world.run_without_settings(&with_key),
            world.run_api_without_settings(&arguments),
        ] {
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(64), "{urls:?}: {stderr}");
            assert_eq!(stderr.trim_end().lines().count(), 1, "{urls:?}: {stderr}");
            assert!(stderr.contains(refused), "{urls:?}: {stderr}");
        }
    }
}

/// The path of a data directory that does not exist.
fn unused_data_dir(world: &World) -> String {
    world.data_dir().with_file_name("elsewhere").display().to_string()
}

/// Container platforms hand secrets over as files, which may end with a line break.
async fn every_secret_may_be_in_a_file(shape: Shape) {
    let dir = tempfile::tempdir().unwrap();
    let redis = RedisServer::launch(dir.path());
    let mail = SmtpServer::start(SmtpBehavior::AcceptsAll).await;
    let hook = StubServer::start().await;
    hook.answer(204, "");
    let database = dir.path().join("own.db");
    let file = |name: &str, value: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, format!("{value}\n")).unwrap();
        path.display().to_string()
    };
    let world = World::builder(shape)
        .empty()
        .flag(
            "--database-url-file",
            &file("database", &format!("sqlite:{}", database.display())),
        )
        .flag("--redis-url-file", &file("redis", &redis.url()))
        .flag("--smtp-url-file", &file("smtp", &mail.url()))
        .flag("--alert-webhook-url-file", &file("hook", &hook.url))
        .flag(
            "--alert-webhook-secret-file",
            &file("secret", "a secret of 16 bytes and more"),
        )
        .start()
        .await;
    assert!(database.exists());
    let ready = world.anyone().get("/readyz").await.expect(200).json();
    assert_eq!(ready["checks"]["redis"], "ok", "{ready}");
    let (ann, app) = (
        world.sign_up_and_log_in().await,
        world.app().register_by_command(),
    );
    mail.wait_until_received(1, || {}).await;
    assert_eq!(mail.received()[0].to, std::slice::from_ref(&ann.email));
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(200);
    app.refresh(&world.anyone(), &tokens.refresh).await.expect(400);
    eventually("no alert", async || !hook.received().is_empty()).await;
}

async fn flags_override_environment_variables(shape: Shape) {
    let setup = World::builder(shape)
        .env("LATCHKEY_PASSWORD_MIN_LENGTH", "15")
        .env("LATCHKEY_SESSION_MAX", "nonsense");
    let world = setup.flag("--session-max", "12h").start().await;
    let body = json!({ "email": "ann@example.org", "password": "fourteen chars" });
    world
        .anyone()
        .post("/users")
        .json(&body)
        .await
        .expect_validation_errors(&["/password"]);
}

async fn users_are_created_and_listed_by_command(world: World) {
    let create = |email: &str, role: &str| {
        let args = [
            "users",
            "create",
            "--email",
            email,
            "--role",
            role,
            "--password-stdin",
            "--json",
        ];
        world.run(&args, PASSWORD)
    };
    let made: Value = serde_json::from_slice(&create("ed@example.org", "editor").stdout).unwrap();
    assert_eq!(
        (&made["email"], &made["role"]),
        (&json!("ed@example.org"), &json!("editor"))
    );
    assert!(made["id"].is_i64() && made["password_hash"].is_null(), "{made}");
    for (email, role) in [
        ("ED@example.org", "user"),
        ("nonsense", "user"),
        ("new@example.org", "king"),
    ] {
        let refused = create(email, role);
        assert!(
            !refused.status.success() && refused.stdout.is_empty(),
            "{refused:?}"
        );
    }
    let short = world.run(
        &[
            "users",
            "create",
            "--email",
            "x@example.org",
            "--password-stdin",
            "--json",
        ],
        "short",
    );
    assert!(!short.status.success(), "{short:?}");
    let users = world.cli(&["users", "list", "--json"], "");
    assert_eq!(users.as_array().unwrap().last(), Some(&made), "{users}");
    let ed = world.log_in("ed@example.org", PASSWORD).await;
    assert_eq!(ed.get("/me").await.expect(200).json()["role"], "editor");
}

async fn the_demo_page_tolerates_malformed_queries(world: SharedWorld) {
    let page = world
        .anyone()
        .get("/demo?code=1&code=2&error=%3Cb%3E")
        .await
        .expect(200);
    assert!(!page.text().contains("<b>"), "{page}");
}

async fn the_sqlite_file_is_private_to_its_owner(world: SharedWorld) {
    let Ok(metadata) = world.data_dir().join("latchkey.db").metadata() else {
        assert_ne!(world.shape, Shape::Sqlite);
        return;
    };
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

async fn the_demo_client_is_created_even_if_users_exist(shape: Shape) {
    let mut world = World::start(shape).await;
    world.stop().await;
    let db = world.db().await;
    storage::execute!(db.writer(), "DELETE FROM clients WHERE id = 'demo'").unwrap();
    drop(db);
    world.restart().await;
    let clients = world.cli(&["clients", "list", "--json"], "");
    assert_eq!(clients[0]["id"], json!("demo"));
}

async fn the_demo_client_exists_on_loopback_only(shape: Shape) {
    let setup = World::builder(shape).flag("--base-url", "https://id.example.org");
    let mut world = setup.start().await;
    for _ in ["the first start", "a later start"] {
        assert_eq!(world.cli(&["clients", "list", "--json"], ""), json!([]));
        for path in ["/demo", "/_design"] {
            world.anyone().get(path).await.expect_error(404, "not_found");
        }
        let front = world.anyone().get("/").await.expect(200).text();
        assert!(!front.contains("admin-password"), "{front}");
        assert!(!front.contains("README.md"), "{front}");
        world.stop().await;
        world.restart().await;
    }
    let mut world = World::start(shape).await;
    let restart_with = async |world: &mut World, url: Option<&str>| {
        world.set_issuer_flags(&[("--base-url", url)]);
        world.stop().await;
        world.restart().await;
        world.cli(&["clients", "show", "demo", "--json"], "")
    };
    let moved = restart_with(&mut world, Some("https://id.example.org")).await;
    let [app, reference] =
        ["demo-app", "reference"].map(|id| world.cli(&["clients", "show", id, "--json"], ""));
    for client in [moved, app, reference] {
        assert!(client["disabled_at"].is_string(), "{client}");
    }
    assert!(world.log().contains("the demo client is disabled"));
    for path in ["/demo", "/demo/callback", "/demo/main.js"] {
        world.anyone().get(path).await.expect_error(404, "not_found");
    }
    // The operator makes other clients of them. Only unchanged ones are disabled.
    let callback = "https://id.example.org/callback";
    for (id, change) in [
        ("demo", ["--name", "Our own"]),
        ("demo-app", ["--redirect-uri", callback]),
    ] {
        world.cli(&["clients", "enable", id, "--json"], "");
        let update = ["clients", "update", id, "--json"];
        world.cli(&[&update[..], &change].concat(), "");
    }
    let changed = restart_with(&mut world, Some("https://localhost")).await;
    let app = world.cli(&["clients", "show", "demo-app", "--json"], "");
    for client in [changed, app] {
        assert!(client["disabled_at"].is_null(), "{client}");
    }
}

/// The database of a trial has become that of several processes by `latchkey copy`.
async fn a_separate_issuer_in_production_disables_the_demo_client(mut world: World) {
    let (callback, scope) = (format!("{}/demo", world.base()), Role::User.scope().to_string());
    let create = ["clients", "create", "--id", "demo", "--name", "Latchkey demo"];
    let uris = [
        "--redirect-uri",
        &callback,
        "--redirect-uri",
        "http://127.0.0.1/callback",
    ];
    let rest = ["--type", "spa", "--scope", &scope, "--first-party", "--json"];
    world.cli(&[&create[..], &uris, &rest].concat(), "");
    world.stop().await;
    world.set_issuer_flags(&[("--base-url", Some("https://id.example.org"))]);
    world.restart_unready().await;
    eventually("the demo client is not disabled", async || {
        let demo = world.cli(&["clients", "show", "demo", "--json"], "");
        demo["disabled_at"].is_string()
    })
    .await;
    world.stop().await;
}

/// An issuer of plain http at a name of its own registers no app there.
async fn the_demo_app_is_only_where_it_can_be_registered(shape: Shape) {
    let setup = World::builder(shape).flag("--issuer", "http://id.localhost");
    let world = setup.start().await;
    let clients = world.cli(&["clients", "list", "--json"], "");
    let clients = clients.as_array().unwrap();
    assert_eq!(clients.len(), 1, "{clients:?}");
    assert_eq!(clients[0]["id"], "demo");
    for path in ["/demo", "/demo/callback"] {
        world.anyone().get(path).await.expect_error(404, "not_found");
    }
    world.anyone().get("/demo?code=a").await.expect(200);
    let front = world.anyone().get("/").await.expect(200).text();
    assert!(!front.contains("/demo"), "{front}");
}

/// A start that fails because something else is away exits with another code, so that systemd tries again.
async fn a_failed_start_tells_whether_a_setting_is_invalid(world: SharedWorld) {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let key = "A".repeat(43);
    let unreachable = "postgres://nobody@127.0.0.1:1/x";
    let mut starts = vec![
        (1, ("--listen", listen.as_str()), "cannot listen on"),
        (1, ("--database-url", unreachable), "the database is unavailable"),
        (64, ("--master-key", key.as_str()), ""),
        (64, ("--database-url", "sqlite:/nonexistent/x.db"), "DATABASE_URL"),
        (64, ("--audience", ""), ""),
    ];
    let missing = world.database_url().replace("?host=", "_missing?host=");
    if world.shape == Shape::Split {
        starts.push((64, ("--database-url", missing.as_str()), "DATABASE_URL"));
    }
    for (code, flag, reason) in starts {
        let output = world.run_issuer_with(&[("--listen", "127.0.0.1:0"), flag], &[]);
        assert_eq!(output.status.code(), Some(code), "{flag:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .collect();
        assert_eq!(errors.len(), 1, "{flag:?}: {stderr}");
        assert!(errors[0].contains(reason), "{flag:?}: {stderr}");
    }
}

on_every_shape!(
    a_failed_start_tells_whether_a_setting_is_invalid,
    the_sqlite_file_is_private_to_its_owner,
    a_second_start_changes_nothing,
    answered_writes_survive_a_kill,
    invalid_settings_fail_with_a_one_line_error,
    flags_override_environment_variables,
    users_are_created_and_listed_by_command,
);

on_one_process!(
    the_demo_client_is_created_even_if_users_exist,
    the_demo_client_exists_on_loopback_only,
    the_demo_app_is_only_where_it_can_be_registered,
    the_demo_page_tolerates_malformed_queries,
    the_front_page_leads_newcomers_on,
    the_first_start_creates_keys_an_administrator_and_the_demo_client,
    help_shows_every_setting
);

on_many_processes!(
    a_separate_issuer_in_production_disables_the_demo_client,
    plain_http_in_production_is_refused,
);

on_shapes!(every_secret_may_be_in_a_file: sqlite Sqlite);
on_shapes!(issuers_that_start_together_share_one_installation: split Split);
