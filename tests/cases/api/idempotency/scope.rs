//! The scope of keys: user, client and path.

use super::{expect_replay, payment, rows};
use serde_json::json;
use storage::fetch_all;
use tests::{Caller, SharedWorld, fresh_key, on_every_shape};

async fn keys_are_scoped_to_a_user_and_a_client(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let (app, other) = (world.app().register(), world.app().register());
    let scope = "payments:read payments:write";
    let by_app = world.anyone().bearer(&app.tokens(&ann, scope).await.access);
    let by_app_again = world.anyone().bearer(&app.tokens(&ann, scope).await.access);
    let by_other = world.anyone().bearer(&other.tokens(&ann, scope).await.access);
    let of_bob = world.anyone().bearer(&app.tokens(&bob, scope).await.access);
    let key = fresh_key();
    let mut ids = Vec::new();
    for caller in [
        Caller::clone(&ann),
        Caller::clone(&bob),
        by_app.clone(),
        by_other,
        of_bob,
    ] {
        let made = caller.payment(&key, &payment()).await.expect(201);
        expect_replay(&caller.payment(&key, &payment()).await, &made);
        ids.push(made.json()["id"].to_string());
        let read = caller.get(made.header("location")).await.expect(200);
        assert_eq!(read.json()["id"], made.json()["id"]);
    }
    let first = by_app.payment(&key, &payment()).await;
    let again = by_app_again.payment(&key, &payment()).await.expect(201);
    assert_eq!(again.body, first.body, "another token of the same app");
    let session = world.log_in(&ann.email, &ann.password).await;
    let again = session.payment(&key, &payment()).await.expect(201);
    assert_eq!(
        again.json()["id"].to_string(),
        ids[0],
        "another session of the same user"
    );
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

async fn keys_are_scoped_to_a_path(world: SharedWorld) {
    let ann = world.user().await;
    let key = fresh_key();
    let (one, two) = (ann.pay(100).await, ann.pay(100).await);
    ann.payment(&key, &payment()).await.expect(201);
    ann.post("/posts")
        .key(&key)
        .json(&json!({ "title": "A" }))
        .await
        .expect(201);
    for (payment, act) in [(&one, "captures"), (&two, "captures"), (&one, "refunds")] {
        let call = ann.post(&format!("{}/{act}", payment.path)).key(&key);
        let done = call.json(&json!({})).await.expect(201);
        assert!(!done.has("idempotent-replayed"), "{done}");
        assert_eq!(done.json()["id"], payment.id);
    }
    assert_eq!(rows(&ann, &world, "payments").await, 3);
}

/// Paths with and without the version are the same operation. Each response keeps the form of its request.
async fn versioned_and_unversioned_paths_share_a_key(world: SharedWorld) {
    let ann = world.user().await;
    let key = fresh_key();
    let bare = ann.payment(&key, &payment()).await.expect(201);
    let prefixed = ann
        .post("/v1/payments")
        .key(&key)
        .json(&payment())
        .await
        .expect(201);
    assert_eq!(prefixed.body, bare.body);
    assert_eq!(prefixed.header("idempotent-replayed"), "true");
    assert_eq!(
        prefixed.header("location"),
        format!("/v1{}", bare.header("location"))
    );
    expect_replay(&ann.payment(&key, &payment()).await, &bare);
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

async fn a_different_body_is_rejected_and_recorded(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let by_app = world
        .anyone()
        .bearer(&app.tokens(&ann, "payments:write").await.access);
    let key = fresh_key();
    for (caller, client) in [(Caller::clone(&ann), None), (by_app, Some(app.id.clone()))] {
        caller.payment(&key, &payment()).await.expect(201);
        let other = json!({ "amount": 1251, "currency": "EUR" });
        let reply = caller.payment(&key, &other).await;
        let reply = reply.expect_problem(422, "idempotency_key_reused");
        assert!(reply.json().get("errors").is_none(), "{reply}");
        let query = "SELECT name, outcome, user_id, client_id FROM security_events WHERE trace_id = $1";
        let db = world.db().await;
        type Event = (String, String, Option<i64>, Option<String>);
        let events = fetch_all!(db.reader(), Event, query, reply.correlation_id()).unwrap();
        let expected = (
            "idempotency_conflict".into(),
            "failure".into(),
            Some(ann.id),
            client,
        );
        assert_eq!(events, [expected]);
        let json = caller.payment(&key, &other).header("accept", "application/json");
        json.await.expect_problem(422, "idempotency_key_reused");
    }
    assert_eq!(rows(&ann, &world, "payments").await, 2);
}

on_every_shape!(
    keys_are_scoped_to_a_user_and_a_client,
    keys_are_scoped_to_a_path,
    versioned_and_unversioned_paths_share_a_key,
    a_different_body_is_rejected_and_recorded,
);
