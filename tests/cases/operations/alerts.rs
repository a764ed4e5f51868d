//! Alerts on abnormal activity: a row, a log line, a count and a signed POST for each, once over all replicas.

mod webhook;

use serde_json::{Value, json};
use shared::fetch_all;
use std::time::Duration;
use tests::{Caller, PASSWORD, Setup, Shape, World, on_every_shape, soon};

fn watched(shape: Shape) -> Setup {
    let setup = World::of(shape).flag("--metrics-listen", "127.0.0.1:0");
    setup.flag("--trusted-proxies", "127.0.0.1")
}

/// The lines of the log that say an alert of this kind.
fn said(world: &World, kind: &str) -> Vec<Value> {
    let log = world.log();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["target"] == "alert" && line["kind"] == kind)
        .collect()
}

/// There is one alert of this kind: a row, a line at error level, a count.
async fn expect_one(world: &World, kind: &str) -> Value {
    soon(&format!("no alert of {kind}"), || async {
        !said(world, kind).is_empty()
    })
    .await;
    let rows = "SELECT kind FROM alerts WHERE kind = $1";
    let rows = fetch_all!(world.db().await.reader(), (String,), rows, kind).unwrap();
    let said = said(world, kind);
    assert_eq!((rows.len(), said.len()), (1, 1), "{said:?}");
    assert_eq!(said[0]["level"], "ERROR");
    let series = format!("latchkey_alerts_total{{kind=\"{kind}\"}}");
    assert_eq!(world.counted(&series).await, 1);
    said[0].clone()
}

async fn log_in(caller: &Caller, email: &str, password: &str) -> u16 {
    let body = json!({ "email": email, "password": password });
    caller.post("/login").json(&body).await.status
}

async fn a_reused_refresh_token_or_code_raises_one(shape: Shape) {
    let world = watched(shape).start().await;
    let (ann, app) = world.person_and_app().await;
    let anyone = world.anyone();
    let tokens = app.tokens(&ann, "posts:read").await;
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
    let replayed = app.refresh(&anyone, &tokens.refresh).await.expect(400);
    app.refresh(&anyone, &tokens.refresh).await.expect(400);
    let alert = expect_one(&world, "refresh_token_reuse").await;
    assert_eq!(alert["traceId"], replayed.correlation_id());
    assert_eq!(
        (&alert["user"], &alert["client"]),
        (&json!(ann.id), &json!(app.id))
    );

    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    app.exchange(&anyone, &grant).await.expect(200);
    let reused = app.exchange(&anyone, &grant).await.expect(400);
    let alert = expect_one(&world, "code_reuse").await;
    assert_eq!(alert["traceId"], reused.correlation_id());
}

async fn a_compromised_key_raises_one_though_a_command_says_so(shape: Shape) {
    let world = watched(shape).start().await;
    let keys = world.cli(&["keys", "list", "--json"], "");
    let kid = keys[0]["kid"].as_str().unwrap();
    world.cli(&["keys", "retire", kid, "--compromised", "--json"], "");
    let alert = expect_one(&world, "key_compromised").await;
    assert_eq!(alert["detail"], format!("kid {kid}"));
}

async fn five_lockouts_in_five_minutes_raise_one(shape: Shape) {
    let world = watched(shape).start().await;
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
    assert!(said(&world, "lockout_burst").is_empty());
    for n in 5..=7 {
        lock_out(n).await;
    }
    expect_one(&world, "lockout_burst").await;
}

async fn one_account_from_five_networks_raises_one(shape: Shape) {
    let world = watched(shape).start().await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let from = |address: &str| world.anyone().with("x-forwarded-for", address);
    for n in 1..=3 {
        assert_eq!(
            log_in(&from(&format!("2001:db8:{n}::1")), &ann.email, PASSWORD).await,
            200
        );
        // Neighbours of one network are one.
        assert_eq!(
            log_in(&from(&format!("2001:db8:9::{n}")), &bob.email, "wrong, this").await,
            401
        );
    }
    assert_eq!(
        log_in(&from("198.51.100.1"), &ann.email, "not the password").await,
        401
    );
    let alert = expect_one(&world, "account_from_many_addresses").await;
    assert_eq!(alert["user"], ann.id, "signed up from a fifth: {alert}");
}

async fn what_a_crash_left_unsaid_is_said_by_the_next_process(shape: Shape) {
    let mut world = watched(shape).clock().start().await;
    let ann = world.sign_up().await;
    world.kill();
    let write = "INSERT INTO security_events (at, name, outcome, user_id, network, trace_id)
                 VALUES ($1, 'authn_login_lock', 'failure', $2, 'n', 't')";
    let db = world.db().await;
    for n in 0..5 {
        let at = world.now().before(Duration::from_secs(600 + n));
        shared::execute!(db.writer(), write, at, ann.id).unwrap();
    }
    db.close().await;
    world.start_again().await;
    soon("nobody looked back", || async {
        said(&world, "lockout_burst").len() == 1
    })
    .await;
}

async fn requests_and_events_are_counted_by_all_programs(shape: Shape) {
    let world = watched(shape).start().await;
    let ann = world.sign_up().await;
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
        assert_eq!(world.counted(&series).await, expected, "{series}");
    }
    let metrics = world.metrics().await;
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
    a_reused_refresh_token_or_code_raises_one,
    a_compromised_key_raises_one_though_a_command_says_so,
    five_lockouts_in_five_minutes_raise_one,
    one_account_from_five_networks_raises_one,
    what_a_crash_left_unsaid_is_said_by_the_next_process,
    requests_and_events_are_counted_by_all_programs,
);
