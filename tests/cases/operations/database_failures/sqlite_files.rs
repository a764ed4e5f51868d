//! Writes to the SQLite file that fail: they are refused, and everything else works.

use super::assert_lost;
use serde_json::{Value, json};
use tests::{Authenticator, PASSWORD, Shape, Tokens, User, World, on_shapes};

/// The largest file that the program can write, in KiB: enough for the start and for some posts. The log of
/// SQLite, which grows until it has 4 MiB, gets no larger, so no write succeeds any more.
const MAX_FILE_SIZE: u32 = 2048;
/// The most writes until the file has its largest size.
const MAX_WRITES: usize = 2_000;

fn post(characters: usize) -> Value {
    json!({ "title": "A post", "body": "x".repeat(characters), "status": "published" })
}

/// Whether the log of SQLite has the largest size that the program can write.
fn is_full(world: &World) -> bool {
    let log = world.data_dir().join("latchkey.db-wal");
    let metadata = std::fs::metadata(log).expect("the log of SQLite exists");
    metadata.len() >= u64::from(MAX_FILE_SIZE) * 1024
}

/// Writes posts, ever smaller ones, until the file cannot hold even a post without text. A refusal before
/// that has another reason: a busy machine may exceed the time limit of a request.
async fn fill(world: &World, user: &User) {
    for characters in [60_000, 6_000, 0] {
        for n in 0.. {
            assert!(n < MAX_WRITES, "the file never gets too large");
            let reply = user.post("/posts").json(&post(characters)).may_fail().await;
            if reply.status == 201 {
                continue;
            }
            let refused = reply.expect_error(503, "dependency_unavailable");
            assert!(refused.has("retry-after"), "{refused}");
            if is_full(world) {
                break;
            }
        }
    }
}

async fn writes_that_fail_are_refused_and_reads_succeed(shape: Shape) {
    let world = World::builder(shape).max_file_size(MAX_FILE_SIZE).start().await;
    let (ann, bob) = (world.user().await, world.user().await);
    let app = world.app().register();
    let (first, mut tokens) = (ann.publish("A post").await, app.tokens(&ann, "posts:read").await);
    fill(&world, &ann).await;
    for _ in 0..3 {
        let refused = ann.post("/posts").json(&post(0)).may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
    // The first rotations may still fit into the file, because they write less than a post.
    let mut reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    while reply.status == 200 {
        tokens = Tokens::parse(reply);
        reply = app.refresh(&world.anyone(), &tokens.refresh).may_fail().await;
    }
    let refused = reply.expect_token_error(503, "temporarily_unavailable");
    assert!(refused.has("retry-after"), "{refused}");
    ann.get(&first.path).await.expect(200);
    bob.get("/me").await.expect(200);
    world.anyone().get("/readyz").await.expect(200);
}

async fn a_refusal_stays_one_if_its_event_cannot_be_recorded(shape: Shape) {
    let world = World::builder(shape).max_file_size(MAX_FILE_SIZE).start().await;
    let ann = world.user().await;
    let of_ann = ann.publish("A post").await;
    let mut others = Vec::new();
    for _ in 0..10 {
        others.push(world.user().await);
    }
    fill(&world, &ann).await;
    // The first events may still fit into the file. The later ones of the same user in a minute would only be
    // counted.
    for bob in &others {
        let refused = bob.delete(&of_ann.path).await;
        refused.expect_error(403, "forbidden");
        let forged = bob.delete(&of_ann.path).without("x-csrf-token").await;
        forged.expect_error(403, "csrf_mismatch");
    }
    assert_lost(&world, &["authz_fail", "malicious_csrf"]);
}

async fn a_failed_sign_in_stays_one_if_its_event_cannot_be_recorded(shape: Shape) {
    let world = World::builder(shape)
        .max_file_size(MAX_FILE_SIZE)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await;
    let (ann, bob) = (world.user().await, world.user().await);
    let app = Authenticator::enable(&world, &ann).await;
    fill(&world, &bob).await;
    let log_in = |n: usize, email: &str, password: &str, otp: &str| {
        let body = json!({ "email": email, "password": password, "otp": otp });
        let caller = world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"));
        caller.post("/login").json(&body)
    };
    // The first events may still fit into the file.
    for n in 0..30 {
        log_in(n, &bob.email, "not the password", "000000")
            .await
            .expect(401);
        let unknown = format!("nobody-{n}@example.com");
        log_in(n, &unknown, PASSWORD, "000000").await.expect(401);
    }
    let wrong = app.code(&world, 120);
    for n in 0..10 {
        let refused = log_in(n, &ann.email, PASSWORD, &wrong).await;
        refused.expect_error(403, "mfa_required");
    }
    let locked = log_in(10, &ann.email, PASSWORD, &wrong).await;
    locked.expect_error(429, "login_locked");
    assert_lost(&world, &["authn_login_fail", "authn_mfa_lock"]);
}

on_shapes!(writes_that_fail_are_refused_and_reads_succeed: sqlite Sqlite);
on_shapes!(a_refusal_stays_one_if_its_event_cannot_be_recorded: sqlite Sqlite);
on_shapes!(a_failed_sign_in_stays_one_if_its_event_cannot_be_recorded: sqlite Sqlite);
