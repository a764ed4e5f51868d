//! Alerts on abnormal activity: a row, a log line, a metric and a signed POST each, once across all replicas.

mod webhook;

use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_all;
use tests::{Caller, PASSWORD, Shape, World, WorldBuilder, eventually, on_every_shape};

fn builder_with_metrics(shape: Shape) -> WorldBuilder {
    let setup = World::builder(shape).flag("--metrics-listen", "127.0.0.1:0");
    setup.flag("--trusted-proxies", "127.0.0.1")
}

/// The log lines of alerts of this kind.
fn alert_lines(world: &World, kind: &str) -> Vec<Value> {
    let lines = world.log_lines().into_iter();
    lines
        .filter(|line| line["target"] == "alert" && line["kind"] == kind)
        .collect()
}

/// Expects exactly one alert of this kind: a row, a log line at error level, and a metric. Returns the log
/// line.
async fn expect_single_alert(world: &World, kind: &str) -> Value {
    eventually(&format!("no alert of {kind}"), || async {
        !alert_lines(world, kind).is_empty()
    })
    .await;
    let rows = "SELECT kind FROM alerts WHERE kind = $1";
    let rows = fetch_all!(world.db().await.reader(), (String,), rows, kind).unwrap();
    let alert_lines = alert_lines(world, kind);
    assert_eq!((rows.len(), alert_lines.len()), (1, 1), "{alert_lines:?}");
    assert_eq!(alert_lines[0]["level"], "ERROR");
    let series = format!("latchkey_alerts_total{{kind=\"{kind}\"}}");
    assert_eq!(world.metric_total(&series).await, 1);
    alert_lines[0].clone()
}

async fn log_in(caller: &Caller, email: &str, password: &str) -> u16 {
    let body = json!({ "email": email, "password": password });
    caller.post("/login").json(&body).await.status
}

async fn reuse_of_a_refresh_token_or_code_raises_an_alert(shape: Shape) {
    let world = builder_with_metrics(shape).start().await;
    let (ann, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    let replayed = app.refresh(&anyone, &tokens.refresh).await.expect(400);
    app.refresh(&anyone, &tokens.refresh).await.expect(400);
    let alert = expect_single_alert(&world, "refresh_token_reuse").await;
    assert_eq!(alert["traceId"], replayed.correlation_id());
    assert_eq!(
        (&alert["user_id"], &alert["client_id"]),
        (&json!(ann.id), &json!(app.id))
    );

    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    app.exchange(&anyone, &grant).await.expect(200);
    let reused = app.exchange(&anyone, &grant).await.expect(400);
    let alert = expect_single_alert(&world, "code_reuse").await;
    assert_eq!(alert["traceId"], reused.correlation_id());
}

async fn marking_a_key_compromised_by_command_raises_an_alert(shape: Shape) {
    let world = builder_with_metrics(shape).start().await;
    let keys = world.cli(&["keys", "list", "--json"], "");
    let kid = keys[0]["kid"].as_str().unwrap();
    world.cli(&["keys", "retire", kid, "--compromised", "--json"], "");
    let alert = expect_single_alert(&world, "key_compromised").await;
    assert_eq!(alert["detail"], format!("kid {kid}"));
}

async fn five_lockouts_in_five_minutes_raise_an_alert(shape: Shape) {
    let world = builder_with_metrics(shape).start().await;
    let lock_out = async |n: usize| {
        let from = world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"));
        for _ in 0..5 {
            assert_eq!(
                log_in(&from, &format!("nobody{n}@example.org"), "not the password").await,
                401
            );
        }
    };
    for n in 1..=4 {
        lock_out(n).await;
    }
    assert!(alert_lines(&world, "lockout_burst").is_empty());
    for n in 5..=7 {
        lock_out(n).await;
    }
    expect_single_alert(&world, "lockout_burst").await;
}

async fn attempts_on_one_account_from_five_networks_raise_an_alert(shape: Shape) {
    let world = builder_with_metrics(shape).clock().start().await;
    let (ann, bob, carl) = (
        world.sign_up_and_log_in().await,
        world.sign_up_and_log_in().await,
        world.sign_up_and_log_in().await,
    );
    let from = |address: &str| world.anyone().with("x-forwarded-for", address);
    for n in 1..=3 {
        assert_eq!(
            log_in(&from(&format!("2001:db8:{n}::1")), &ann.email, PASSWORD).await,
            200
        );
        // Addresses of one network count as one.
        assert_eq!(
            log_in(&from(&format!("2001:db8:9::{n}")), &bob.email, "wrong, this").await,
            401
        );
    }
    assert_eq!(
        log_in(&from("198.51.100.1"), &ann.email, "not the password").await,
        401
    );
    let alert = expect_single_alert(&world, "account_from_many_addresses").await;
    assert_eq!(
        alert["user_id"], ann.id,
        "signed up from a fifth network: {alert}"
    );
    // Attempts that follow those with many made-up addresses are recorded when the minute has ended.
    for network in 21..=24 {
        let from = from(&format!("2001:db8:{network}::1"));
        for n in 0..12 {
            assert_eq!(
                log_in(&from, &format!("{network}-{n}@example.org"), PASSWORD).await,
                401
            );
        }
        assert_eq!(log_in(&from, &carl.email, "not the password").await, 401);
    }
    world.advance(Duration::from_secs(60));
    eventually("no alert of an account behind made-up addresses", || async {
        let lines = alert_lines(&world, "account_from_many_addresses");
        lines.iter().any(|alert| alert["user_id"] == carl.id)
    })
    .await;
}

async fn alerts_lost_in_a_crash_are_raised_by_the_next_process(shape: Shape) {
    let mut world = builder_with_metrics(shape).clock().start().await;
    let ann = world.sign_up().await;
    world.kill();
    let write = "INSERT INTO security_events (at, name, outcome, user_id, network, trace_id)
                 VALUES ($1, 'authn_login_lock', 'failure', $2, 'n', 't')";
    let db = world.db().await;
    for n in 0..5 {
        let at = world.now().before(Duration::from_secs(600 + n));
        storage::execute!(db.writer(), write, at, ann.id).unwrap();
    }
    db.close().await;
    world.restart().await;
    eventually("no process raised the missed alert", || async {
        alert_lines(&world, "lockout_burst").len() == 1
    })
    .await;
}

async fn all_programs_count_requests_and_events(shape: Shape) {
    let world = builder_with_metrics(shape).start().await;
    let ann = world.sign_up_and_log_in().await;
    for _ in 0..3 {
        ann.get("/me").await.expect(200);
    }
    world.anyone().get("/me").await.expect(401);
    world.anyone().get("/nowhere").await.expect(404);
    world.browser().open("/signin").await;
    let (route, events) = (
        "http_requests_total{method=\"GET\",route=",
        "latchkey_security_events_total{",
    );
    for (series, expected) in [
        (format!("{route}\"/me\",status=\"200\"}}"), 3),
        (format!("{route}\"/me\",status=\"401\"}}"), 1),
        (format!("{route}\"\",status=\"404\"}}"), 1),
        (format!("{route}\"/signin\",status=\"200\"}}"), 1),
        (
            format!("{events}name=\"authn_login_success\",outcome=\"success\"}}"),
            1,
        ),
        (
            "http_request_duration_seconds_count{method=\"GET\",route=\"/me\"}".to_owned(),
            4,
        ),
    ] {
        assert_eq!(world.metric_total(&series).await, expected, "{series}");
    }
    let metrics = world.metrics().await;
    let programs = match shape {
        Shape::Split => ["auth-server", "api-server"],
        Shape::Sqlite | Shape::Postgres => ["latchkey"; 2],
    };
    for program in programs {
        let label = format!(",program=\"{program}\"}} 1\n");
        assert!(metrics.contains(&label), "{program}:\n{metrics}");
    }
    for series in [
        "latchkey_build_info{version=",
        "process_uptime_seconds ",
        "process_start_time_seconds ",
    ] {
        assert!(metrics.contains(series), "{series}:\n{metrics}");
    }
    for port in [world.issuer_ports()[0], world.api_ports()[0]] {
        let on_main = world
            .anyone()
            .get(&format!("http://localhost:{port}/metrics"))
            .await;
        on_main.expect_error(404, "not_found");
    }
}

on_every_shape!(
    reuse_of_a_refresh_token_or_code_raises_an_alert,
    marking_a_key_compromised_by_command_raises_an_alert,
    five_lockouts_in_five_minutes_raise_an_alert,
    attempts_on_one_account_from_five_networks_raise_an_alert,
    alerts_lost_in_a_crash_are_raised_by_the_next_process,
    all_programs_count_requests_and_events,
);
