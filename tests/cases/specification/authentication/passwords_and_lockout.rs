//! "Passwords and lockout".

use super::super::{SECOND, WRONG, fail};
use identity::passwords::{Passwords, Policy};
use serde_json::Value;
use std::time::{Duration, Instant};
use storage::{execute, fetch_one};
use tests::{PASSWORD, Reply, Shape, SharedWorld, User, World, on_every_shape};

const MINUTE: Duration = Duration::from_secs(60);

/// The stored password hash.
async fn stored(world: &World, user: &User) -> String {
    let query = "SELECT password_hash FROM users WHERE id = $1";
    let (hash,) = fetch_one!(world.db().await.reader(), (String,), query, user.id).unwrap();
    hash
}

/// 5, passwords 1: "Passwords are stored hashed with Argon2 or bcrypt, salted".
async fn statement_1_passwords_are_stored_hashed_and_salted(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    assert_eq!(ann.password, bob.password);
    let (anns, bobs) = (stored(&world, &ann).await, stored(&world, &bob).await);
    assert_ne!(anns, bobs, "each hash has its own salt");
    for hash in [anns, bobs] {
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
    }
    assert!(!world.dump().contains(PASSWORD));
}

/// 5, passwords 1: "with cost parameters that are reviewed over time and migrated progressively": a hash with
/// lower cost parameters than the current ones is replaced when its user signs in.
async fn statement_1_cost_parameters_are_migrated_progressively(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let outdated = Passwords::new(Policy {
        memory_kib: 1_024,
        passes: 1,
        permits: 1,
        min_length: 8,
    })
    .unwrap();
    let old = outdated
        .hash(outdated.parse_new(PASSWORD).unwrap())
        .await
        .unwrap();
    let update = "UPDATE users SET password_hash = $1";
    execute!(world.db().await.writer(), update, old.as_str()).unwrap();
    world.anyone().login(&ann.email, WRONG).await.expect(401);
    assert_eq!(stored(&world, &ann).await, old);
    world.anyone().login(&ann.email, PASSWORD).await.expect(200);
    let new = stored(&world, &ann).await;
    assert!(new.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{new}");
    world.anyone().login(&ann.email, PASSWORD).await.expect(200);
    assert_eq!(stored(&world, &ann).await, new, "a migrated hash is kept");
    assert_eq!(
        stored(&world, &bob).await,
        old,
        "hashes are only migrated at sign-in"
    );
}

/// Expects that the sign-in is blocked before the password is checked.
async fn expect_locked(world: &World, user: &User) -> Reply {
    let reply = world.anyone().login(&user.email, PASSWORD).await;
    reply.expect_error(429, "login_locked")
}

/// 5, lockout 2: "Login attempts are limited to 5 failures per 15 minutes".
async fn statement_2_attempts_are_limited_to_5_failures_per_15_minutes(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    fail(&world.anyone(), &ann.email, 5).await;
    expect_locked(&world, &ann).await;
    fail(&world.anyone(), &bob.email, 4).await;
    world.anyone().login(&bob.email, PASSWORD).await.expect(200);
    world.advance(15 * MINUTE - SECOND);
    expect_locked(&world, &ann).await;
    world.advance(2 * SECOND);
    world.anyone().login(&ann.email, PASSWORD).await.expect(200);
}

/// 5, lockout 2: "counted per identity plus client address".
async fn statement_2_failures_are_counted_per_identity_plus_address(shape: Shape) {
    let setup = World::builder(shape).flag("--trusted-proxies", "127.0.0.0/8");
    let world = setup.start().await;
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let here = world.anyone().with("x-forwarded-for", "198.51.100.1");
    let elsewhere = world.anyone().with("x-forwarded-for", "198.51.100.2");
    fail(&here, &ann.email, 5).await;
    let locked = here.login(&ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    elsewhere.login(&ann.email, PASSWORD).await.expect(200);
    here.login(&bob.email, PASSWORD).await.expect(200);
}

/// 5, lockout 2: "in a sliding window": each failure counts for the fifteen minutes after it.
async fn statement_2_the_window_slides(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    fail(&world.anyone(), &ann.email, 1).await;
    world.advance(10 * MINUTE);
    fail(&world.anyone(), &ann.email, 3).await;
    world.advance(5 * MINUTE + SECOND);
    // The first failure has left the window, the other three have not.
    fail(&world.anyone(), &ann.email, 2).await;
    expect_locked(&world, &ann).await;
}

/// 5, lockout 2: "with backoff"; Latchkey's choice: each response is delayed longer than the one before.
async fn statement_2_responses_to_failures_are_increasingly_delayed(world: SharedWorld) {
    let ann = world.sign_up().await;
    for at_least in [0, 100, 200, 400, 800] {
        let began = Instant::now();
        fail(&world.anyone(), &ann.email, 1).await;
        let took = began.elapsed();
        assert!(
            took >= Duration::from_millis(at_least),
            "the response took {took:?} instead of at least {at_least} ms"
        );
    }
}

/// The log lines of a request: the access line and those of its events.
fn logged(world: &World, reply: &Reply) -> Vec<Value> {
    let log = world.log();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["span"]["trace_id"] == reply.correlation_id())
        .collect()
}

/// 5, lockout 3: "Accesses … are logged".
async fn statement_3_accesses_are_logged(world: SharedWorld) {
    let ann = world.sign_up().await;
    for (caller, status) in [(world.anyone(), 401), (ann.session(&ann.sid, &ann.csrf), 200)] {
        let reply = caller.get("/me").await.expect(status);
        let lines = logged(&world, &reply);
        let is_access = |line: &&Value| line["route"] == "/me" && line["status"] == status;
        assert_eq!(lines.iter().filter(is_access).count(), 1, "{lines:?}");
    }
}

/// 5, lockout 3: "… and security events are logged", under the `traceId` of their request.
async fn statement_3_security_events_are_logged(world: SharedWorld) {
    let ann = world.sign_up().await;
    let failed = world.anyone().login(&ann.email, WRONG).await.expect(401);
    let signed_in = world.anyone().login(&ann.email, PASSWORD).await.expect(200);
    for (reply, name) in [(failed, "authn_login_fail"), (signed_in, "authn_login_success")] {
        let lines = logged(&world, &reply);
        let is_event = |line: &&Value| line["event"] == name && line["traceId"] == reply.correlation_id();
        assert_eq!(lines.iter().filter(is_event).count(), 1, "{lines:?}");
    }
}

on_every_shape!(
    statement_1_passwords_are_stored_hashed_and_salted,
    statement_1_cost_parameters_are_migrated_progressively,
    statement_2_attempts_are_limited_to_5_failures_per_15_minutes,
    statement_2_failures_are_counted_per_identity_plus_address,
    statement_2_the_window_slides,
    statement_2_responses_to_failures_are_increasingly_delayed,
    statement_3_accesses_are_logged,
    statement_3_security_events_are_logged,
);
