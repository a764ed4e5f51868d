//! A quota limits the storage of each user.

use serde_json::json;
use storage::{execute, fetch_one};
use tests::{Call, Reply, Shape, User, World, fresh_key, on_every_shape, run_concurrently, status_counts};

/// The bytes that count for a row beside its texts.
const ROW: usize = 512;

async fn world_with_quota(shape: Shape, quota: &str) -> World {
    let setup = World::builder(shape).flag("--storage-quota", quota);
    setup.start().await
}

/// A call that stores a post of this many bytes, with its row.
fn post_of(user: &User, bytes: usize) -> Call {
    let body = "b".repeat(bytes - ROW - 1);
    let call = user.post("/posts").json(&json!({ "title": "t", "body": body }));
    call.may_fail()
}

#[track_caller]
fn expect_refused(reply: Reply) {
    let reply = reply.expect_error(507, "storage_quota_exceeded");
    assert!(!reply.has("retry-after"), "{reply}");
}

/// The bytes that the program counted, which must be those that the tables have.
async fn counted(world: &World, user: &User) -> i64 {
    let db = world.db().await;
    let counts = "SELECT (SELECT bytes FROM storage_use WHERE user_id = $1), CAST(
                  (SELECT COALESCE(SUM(512 + octet_length(title) + octet_length(body)), 0)
                   FROM posts WHERE author_id = $1)
                + (SELECT COALESCE(SUM(512 + octet_length(body)), 0) FROM comments WHERE author_id = $1)
                + (SELECT COALESCE(SUM(512 + COALESCE(octet_length(description), 0) + octet_length(metadata)), 0)
                   FROM payments WHERE user_id = $1)
                + (SELECT 512 * COUNT(*) FROM idempotency_keys WHERE user_id = $1) AS BIGINT)";
    let (counted, stored) = fetch_one!(db.reader(), (i64, i64), counts, user.id).unwrap();
    assert_eq!(counted, stored);
    counted
}

async fn a_user_stores_as_much_as_the_quota(shape: Shape) {
    let world = world_with_quota(shape, "20KiB").await;
    let (ann, bob) = (world.user().await, world.user().await);
    let editor = world.user_with_role("editor").await;
    let of_bob = bob.publish("A post").await;
    let first = post_of(&ann, 10_240).await.expect(201);
    let first = first.header("location");
    let last = post_of(&ann, 10_241);
    expect_refused(last.await);
    let last = post_of(&ann, 10_240).await.expect(201);
    let last = last.header("location");
    assert_eq!(counted(&world, &ann).await, 20_480);
    let comment = || {
        let call = ann.post(&of_bob.comments());
        call.json(&json!({ "body": "A comment" })).may_fail()
    };
    let payment = || json!({ "amount": 1, "currency": "EUR" });
    let patch = |caller: &User, members| {
        let call = caller.patch(last).header("if-match", "*");
        call.json(&members).may_fail()
    };
    for refused in [
        post_of(&ann, ROW + 1),
        comment(),
        ann.payment("key", &payment()).may_fail(),
        patch(&ann, json!({ "title": "tt" })),
        patch(&editor, json!({ "body": "b".repeat(20_000) })),
    ] {
        expect_refused(refused.await);
    }
    let problem = comment().header("accept", "application/problem+json").await;
    problem.expect_problem(507, "storage_quota_exceeded");
    // Calls that add nothing still succeed, and so do those of other users.
    ann.get(first).await.expect(200);
    patch(&ann, json!({ "status": "published" })).await.expect(200);
    bob.comment(&of_bob, "A comment").await;
    patch(&ann, json!({ "body": "b".repeat(9_726) }))
        .await
        .expect(200);
    patch(&ann, json!({ "title": "tt" })).await.expect(200);
    assert_eq!(counted(&world, &ann).await, 20_480);
    // Deletion gives the room of the text back. The row remains.
    ann.delete(first).await.expect(204);
    assert_eq!(counted(&world, &ann).await, 20_480 - 10_240 + 513);
    let comment = comment().await.expect(201);
    ann.payment("key", &payment()).await.expect(201);
    let before = counted(&world, &ann).await;
    editor.delete(comment.header("location")).await.expect(204);
    assert_eq!(counted(&world, &ann).await, before - 9);
}

async fn concurrent_writes_stay_within_the_quota_together(shape: Shape) {
    let world = world_with_quota(shape, "64KiB").await;
    let (ann, bob) = (world.user().await, world.user().await);
    // On every shape with several processes, at each of them.
    let callers = world.at_each_api(&ann);
    let post = |n: usize| {
        let body = "b".repeat(4_096 - ROW - 1);
        let call = callers[n % callers.len()].post("/posts");
        let call = call.json(&json!({ "title": "t", "body": body }));
        call.may_fail().into_future()
    };
    let replies = run_concurrently(40, post).await;
    assert_eq!(status_counts(&replies), [(201, 16), (507, 24)].into());
    assert_eq!(counted(&world, &ann).await, 65_536);
    // A payment and its key count 1,026 bytes together.
    let callers = world.at_each_api(&bob);
    let pay = |n: usize| {
        let members = json!({ "amount": 1, "currency": "EUR" });
        let caller = &callers[n % callers.len()];
        caller
            .post("/payments")
            .key(&fresh_key())
            .json(&members)
            .may_fail()
            .into_future()
    };
    let replies = run_concurrently(100, pay).await;
    assert_eq!(status_counts(&replies), [(201, 63), (507, 37)].into());
    assert_eq!(counted(&world, &bob).await, 63 * 1_026);
    let replies = run_concurrently(16, |n| {
        let location = replies_location(&replies, n);
        callers[n % callers.len()]
            .post(&format!("{location}/cancellations"))
            .key("k")
            .json(&json!({}))
            .may_fail()
            .into_future()
    });
    let counts = status_counts(&replies.await);
    assert_eq!(counts, [(201, 1), (507, 15)].into());
}

fn replies_location(replies: &[Reply], n: usize) -> &str {
    let made = replies.iter().filter(|reply| reply.status == 201);
    made.map(|reply| reply.header("location")).nth(n).unwrap()
}

/// The texts of a request come with each of its repetitions.
async fn a_key_stores_none_of_the_texts_of_its_request(shape: Shape) {
    let world = world_with_quota(shape, "1GiB").await;
    let ann = world.user().await;
    let body = "\u{1f600}".repeat(100_000);
    let post = || {
        ann.post("/posts")
            .key("k")
            .json(&json!({ "title": "t", "body": body }))
    };
    let made = post().await.expect(201);
    let members = json!({
        "amount": 1, "currency": "EUR", "description": "d".repeat(500), "metadata": { "a": "b".repeat(500) },
    });
    let payment = ann.payment("k", &members).await.expect(201);
    let capture = || {
        ann.post(&format!("{}/captures", payment.header("location")))
            .key("k")
            .json(&json!({}))
    };
    let captured = capture().await.expect(201);
    let db = world.db().await;
    let largest = "SELECT MAX(octet_length(receipt)) FROM idempotency_keys WHERE user_id = $1";
    let largest = format!("SELECT CAST(({largest}) AS BIGINT)");
    let (largest,) = fetch_one!(db.reader(), (i64,), sqlx::AssertSqlSafe(largest), ann.id).unwrap();
    assert!(largest < 200, "{largest} bytes");
    assert_eq!(post().await.body, made.body);
    assert_eq!(capture().await.body, captured.body);
    counted(&world, &ann).await;
}

async fn erased_accounts_and_expired_keys_count_no_more(shape: Shape) {
    let mut world = world_with_quota(shape, "1GiB").await;
    let (ann, bob) = (world.user().await, world.user().await);
    let post = ann.publish("A post").await;
    for n in 0..3 {
        let draft = json!({ "title": "A draft", "body": "Its text" });
        ann.post("/posts")
            .key(&n.to_string())
            .json(&draft)
            .await
            .expect(201);
    }
    ann.comment(&post, "A comment").await;
    bob.pay(100).await;
    let (published, with_key) = (512 + 12, 2 * 512 + 2);
    assert_eq!(counted(&world, &bob).await, with_key);
    let body = json!({ "password": ann.password });
    ann.delete("/me").json(&body).await.expect(204);
    // The rows of drafts remain, without their texts.
    assert_eq!(counted(&world, &ann).await, published + 3 * 512 + 512 + 9);
    let db = world.db().await;
    execute!(db.writer(), "UPDATE idempotency_keys SET expires_at = 0").unwrap();
    // Expired keys are deleted when a process starts.
    world.stop().await;
    world.restart().await;
    tests::eventually("the expired key is still counted", async || {
        counted(&world, &bob).await == with_key - 512
    })
    .await;
}

on_every_shape!(
    a_user_stores_as_much_as_the_quota,
    concurrent_writes_stay_within_the_quota_together,
    a_key_stores_none_of_the_texts_of_its_request,
    erased_accounts_and_expired_keys_count_no_more,
);
