//! `clients rotate-secret`, and the two secrets that a client has meanwhile.

use super::{at_each_issuer, clients, expect_token_error_soon};
use foundation::clock::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_all;
use tests::{
    App, Call, Caller, Shape, SharedWorld, World, eventually, on_every_shape, on_postgresql, run_concurrently,
};

const HOUR: Duration = Duration::from_secs(3600);

/// A confidential client, and a copy of it with a new secret.
fn rotate(world: &World, app: &App, options: &[&str]) -> App {
    let rotated = clients(world, "rotate-secret", app, options);
    let secret = rotated["client_secret"].as_str().unwrap();
    assert_ne!(Some(secret), app.secret.as_deref());
    App {
        secret: Some(secret.to_owned()),
        ..app.clone()
    }
}

/// A request that only an authenticated confidential client may send, with the secret in HTTP Basic.
fn by_basic(app: &App, issuer: &Caller) -> Call {
    app.client_call(issuer, "/introspect", &[("token", "unknown")])
}

/// The same with the secret in the body.
fn by_post(app: &App, issuer: &Caller) -> Call {
    let secret = app.secret.as_deref().unwrap();
    issuer.post("/introspect").form(&[
        ("token", "unknown"),
        ("client_id", &app.id),
        ("client_secret", secret),
    ])
}

/// Expects that within a second each issuer process accepts the secret, in both places.
async fn expect_valid(world: &World, app: &App) {
    for issuer in at_each_issuer(world) {
        eventually("the secret is refused", async || {
            by_basic(app, &issuer).may_fail().await.status == 200
        })
        .await;
        by_post(app, &issuer).await.expect(200);
    }
}

/// Expects that within a second each issuer process refuses the secret, in both places.
async fn expect_ended(world: &World, app: &App) {
    for call in [by_basic, by_post] {
        expect_token_error_soon(world, 401, "invalid_client", |issuer| call(app, issuer)).await;
    }
}

fn secrets(world: &World, app: &App) -> Vec<Value> {
    let shown = clients(world, "show", app, &[]);
    shown["secrets"].as_array().unwrap().clone()
}

fn time(value: &Value) -> Timestamp {
    Timestamp::parse(value.as_str().unwrap()).unwrap()
}

async fn both_secrets_are_valid_during_the_overlap(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let former = world.app().kind("web").register();
    let current = rotate(&world, &former, &["--overlap", "1h"]);
    for app in [&current, &former] {
        expect_valid(&world, app).await;
    }
    world.advance(HOUR - Duration::from_secs(1));
    expect_valid(&world, &former).await;
    world.advance(Duration::from_secs(1));
    expect_ended(&world, &former).await;
    expect_valid(&world, &current).await;
}

async fn without_an_overlap_the_former_secret_ends_at_once(world: SharedWorld) {
    let former = world.app().kind("web").register();
    expect_valid(&world, &former).await;
    let current = rotate(&world, &former, &["--overlap", "0s"]);
    expect_ended(&world, &former).await;
    expect_valid(&world, &current).await;
    assert_eq!(secrets(&world, &former).len(), 1);
}

async fn another_rotation_within_the_overlap_ends_the_oldest_secret(world: SharedWorld) {
    let first = world.app().kind("web").register();
    let second = rotate(&world, &first, &[]);
    let third = rotate(&world, &second, &[]);
    expect_valid(&world, &third).await;
    expect_ended(&world, &first).await;
    expect_valid(&world, &second).await;
    assert_eq!(secrets(&world, &first).len(), 2);
}

async fn concurrent_rotations_leave_two_valid_secrets(world: SharedWorld) {
    let first = world.app().kind("web").register();
    let rotations = run_concurrently(4, |_| {
        let child = world.spawn(&["clients", "rotate-secret", &first.id, "--json"]);
        async move {
            tokio::task::spawn_blocking(|| child.wait_with_output().unwrap())
                .await
                .unwrap()
        }
    });
    let mut known = vec![first.clone()];
    for output in rotations.await {
        assert!(output.status.success(), "{output:?}");
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let secret = printed["client_secret"].as_str().unwrap();
        world.register_secret(secret);
        known.push(App {
            secret: Some(secret.to_owned()),
            ..first.clone()
        });
    }
    expect_ended(&world, &first).await;
    let mut valid = 0;
    for app in &known {
        let reply = by_basic(app, &world.anyone()).await;
        valid += usize::from(reply.status == 200);
    }
    assert_eq!(valid, 2);
}

async fn commands_tell_the_times_of_the_secrets(world: SharedWorld) {
    let first = world.app().kind("web").register();
    let [secret] = secrets(&world, &first).try_into().unwrap();
    assert_eq!(secret["last_used_at"], json!(null));
    assert_eq!(secret["expires_at"], json!(null));
    rotate(&world, &first, &[]);
    let [current, previous] = secrets(&world, &first).try_into().unwrap();
    assert_eq!(previous["created_at"], secret["created_at"]);
    assert_eq!(current["expires_at"], json!(null));
    // The overlap is 24 hours unless the command says otherwise.
    let end = time(&current["created_at"]).after(24 * HOUR);
    assert_eq!(time(&previous["expires_at"]), end);
    let text = world.run(&["clients", "show", &first.id], "");
    let text = String::from_utf8(text.stdout).unwrap();
    let line = format!(
        "secret: created {}, never used, ends {end}\n",
        secret["created_at"].as_str().unwrap()
    );
    assert!(text.contains(&line), "{text}");
    let shown = clients(&world, "show", &first, &[]);
    assert!(!shown.to_string().contains("hash"), "{shown}");
    let query = "SELECT detail FROM security_events WHERE name = 'client_secret_rotated' AND client_id = $1";
    let events = fetch_all!(world.db().await.reader(), (String,), query, first.id.as_str()).unwrap();
    assert_eq!(events, [("the former secret is valid for 86400 s".to_owned(),)]);
}

async fn the_last_use_of_each_secret_is_recorded_to_the_minute(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let former = world.app().kind("web").register();
    let current = rotate(&world, &former, &[]);
    let last_use = |place: usize| secrets(&world, &former)[place]["last_used_at"].clone();
    let (began, issuer) = (world.now(), &at_each_issuer(&world)[0]);
    eventually("the secret is refused", async || {
        by_basic(&current, issuer).may_fail().await.status == 200
    })
    .await;
    eventually("the use is not recorded", async || last_use(0) != json!(null)).await;
    assert_eq!((time(&last_use(0)), last_use(1)), (began, json!(null)));
    world.advance(Duration::from_secs(59));
    by_basic(&current, issuer).await.expect(200);
    // The use of the other secret is recorded later than that of this one would be.
    by_basic(&former, issuer).await.expect(200);
    eventually("the use is not recorded", async || last_use(1) != json!(null)).await;
    assert_eq!((time(&last_use(0)), time(&last_use(1))), (began, world.now()));
    world.advance(Duration::from_secs(1));
    eventually("the use is not recorded", async || {
        by_basic(&current, issuer).await.expect(200);
        time(&last_use(0)) == world.now()
    })
    .await;
    // A wrong secret is no use.
    world.advance(HOUR);
    let wrong = App {
        secret: Some("wrong".to_owned()),
        ..former.clone()
    };
    by_basic(&wrong, issuer)
        .await
        .expect_token_error(401, "invalid_client");
    assert_ne!(time(&last_use(0)), world.now());
}

/// Of many requests with a secret, one in each process records the use.
async fn a_use_is_recorded_by_one_statement_of_many_requests(shape: Shape) {
    let world = World::builder(shape).postgres_proxy().start().await;
    let app = world.app().kind("web").register();
    let issuers = at_each_issuer(&world);
    for _ in 0..5 {
        run_concurrently(20, |n| by_basic(&app, &issuers[n % issuers.len()]).into_future()).await;
    }
    eventually("the use is not recorded", async || {
        secrets(&world, &app)[0]["last_used_at"] != json!(null)
    })
    .await;
    let exchanges = world.postgres_proxy().exchanges();
    let statements = exchanges.iter().flat_map(|exchange| &exchange.statements);
    let records = statements.filter(|statement| statement.contains("SET secret_last_used_at"));
    let records = records.count();
    // A process that reads the client again before the record is committed records the use once more.
    assert!((1..=2 * issuers.len()).contains(&records), "{records}");
}

async fn secrets_that_cannot_be_rotated_stay(world: SharedWorld) {
    let (public, web) = (world.app().register(), world.app().kind("web").register());
    for (id, options, status, reason) in [
        (public.id.as_str(), [].as_slice(), 64, "has no secret"),
        ("no-such-app", &[], 1, "no client has the id"),
        (&web.id, &["--overlap", "31d"], 64, "at most 30 days"),
        (&web.id, &["--overlap", "soon"], 64, "a duration is an integer"),
    ] {
        let refused = world.run(&[&["clients", "rotate-secret", id], options].concat(), "");
        assert_eq!(
            refused.status.code(),
            Some(status),
            "{id} {options:?}: {refused:?}"
        );
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(reason), "{id} {options:?}: {message}");
    }
    expect_valid(&world, &web).await;
    assert_eq!(secrets(&world, &web).len(), 1);
    assert_eq!(secrets(&world, &public), Vec::<Value>::new());
}

on_every_shape!(
    both_secrets_are_valid_during_the_overlap,
    without_an_overlap_the_former_secret_ends_at_once,
    another_rotation_within_the_overlap_ends_the_oldest_secret,
    concurrent_rotations_leave_two_valid_secrets,
    commands_tell_the_times_of_the_secrets,
    the_last_use_of_each_secret_is_recorded_to_the_minute,
    secrets_that_cannot_be_rotated_stay,
);
on_postgresql!(a_use_is_recorded_by_one_statement_of_many_requests);
