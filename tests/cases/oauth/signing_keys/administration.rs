//! `/admin/keys`: the signing keys in the hand of an administrator.

use super::{
    RETIREMENT_TIME, STAGING_TIME, key_in_state, list, published, wait_until_published,
    without_numbers_of_tokens,
};
use foundation::clock::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use storage::fetch_all;
use tests::{Reply, Shape, User, World, items, on_every_shape};

const ROTATIONS: &str = "/admin/keys/rotations";

/// The keys by HTTP, the oldest first. Expects that the shell lists the same.
async fn keys(world: &World, admin: &User) -> Vec<Value> {
    let listed = items(&admin.get("/admin/keys?order=asc").await.expect(200));
    let listed = without_numbers_of_tokens(&listed);
    assert_eq!(listed, list(world));
    listed
}

fn retirements(kid: &str) -> String {
    format!("/admin/keys/{kid}/retirements")
}

/// Expects the 409 for a step that may be taken from this time on.
fn expect_too_early(world: &World, reply: Reply, until: &Value) {
    let reply = reply.expect_error(409, "key_state_conflict");
    let until = until.as_str().unwrap();
    assert!(
        reply.json()["message"].as_str().unwrap().contains(until),
        "{reply}"
    );
    let wait: u64 = reply.header("retry-after").parse().unwrap();
    let remaining = Timestamp::parse(until).unwrap().since(world.now());
    assert_eq!(
        wait,
        remaining.as_secs() + u64::from(remaining.subsec_nanos() > 0)
    );
}

async fn a_rotation_waits_until_the_staged_key_may_sign(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    // The key of the first start may sign at once.
    admin.post(ROTATIONS).await.expect(200);
    let before = keys(&world, &admin).await;
    let active = before[1]["kid"].as_str().unwrap();
    for path in [ROTATIONS, &retirements(active)] {
        expect_too_early(&world, admin.post(path).await, &before[2]["sign_after"]);
    }
    world.advance(STAGING_TIME - Duration::from_secs(1));
    expect_too_early(&world, admin.post(ROTATIONS).await, &before[2]["sign_after"]);
    assert_eq!(keys(&world, &admin).await, before);
    world.advance(Duration::from_secs(1));
    let rotated = admin.post(ROTATIONS).await.expect(200).json();
    let after = keys(&world, &admin).await;
    let expected = json!({
        "done": "rotated", "kid": active, "active": before[2]["kid"], "staged": after[3]["kid"], "caches_may_lack_it_until": null,
    });
    assert_eq!(rotated, expected);
    let states: Vec<&Value> = after.iter().map(|key| &key["state"]).collect();
    assert_eq!(states, ["retired", "retired", "active", "staged"]);
    expect_filtered_by_state(&admin, &after).await;
    let staged = after[3]["kid"].as_str().unwrap();
    wait_until_published(&world, |kids| kids.iter().any(|kid| kid == staged)).await;
}

/// Expects the pages of these keys, of which some are in each of three states: newest first, and filtered.
async fn expect_filtered_by_state(admin: &User, oldest_first: &[Value]) {
    let newest_first: Vec<Value> = oldest_first.iter().rev().cloned().collect();
    for ignored in ["", "?state=Active", "?state=", "?unknown=1", "?cursor=x"] {
        let page = admin.get(&format!("/admin/keys{ignored}")).await.expect(200);
        assert_eq!(
            without_numbers_of_tokens(&items(&page)),
            newest_first,
            "{ignored}"
        );
        assert_eq!(page.json()["next"], json!(null));
    }
    for key in oldest_first {
        let query = format!("state=none&state={}", key["state"].as_str().unwrap());
        let page = admin.get(&format!("/admin/keys?{query}")).await.expect(200);
        let of_state = newest_first.iter().filter(|other| other["state"] == key["state"]);
        let of_state: Vec<Value> = of_state.cloned().collect();
        assert_eq!(without_numbers_of_tokens(&items(&page)), of_state, "{query}");
    }
    let none = admin.get("/admin/keys?state=deleted").await.expect(200);
    assert!(items(&none).is_empty(), "{none}");
}

async fn a_retired_key_is_deleted_after_its_last_token(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    world.advance(STAGING_TIME);
    let retired = admin.post(&retirements(&first)).await.expect(200).json();
    assert_eq!(
        (&retired["done"], &retired["active"]),
        (&json!("rotated"), &json!(second))
    );
    let until = keys(&world, &admin).await[0]["dead_after"].clone();
    assert_eq!(until, world.now().after(RETIREMENT_TIME).to_string());
    let again = admin.post(&retirements(&first)).json(&json!({})).await;
    expect_too_early(&world, again, &until);
    assert!(published(&world).await.contains(&first));
}

async fn a_compromised_key_is_deleted_at_once(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (admin, app) = (world.user_with_role("admin").await, world.app().register());
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    let token = app.tokens(&admin, "admin").await.access;
    world.advance(STAGING_TIME);
    let by_token = world.anyone().bearer(&token);
    let compromised = json!({ "compromised": true });
    let reply = by_token.post(&retirements(&first)).json(&compromised).await;
    let change = reply.clone().expect(200).json();
    let expected = [&json!("discarded"), &json!(first), &json!(second)];
    assert_eq!([&change["done"], &change["kid"], &change["active"]], expected);
    // The key had signed the token of the administrator too.
    world.expect_revoked_soon(&token).await;
    let deleted = &keys(&world, &admin).await[0];
    assert_eq!(
        (&deleted["state"], &deleted["compromised"]),
        (&json!("deleted"), &json!(true))
    );
    let again = admin.post(&retirements(&first)).json(&compromised).await;
    let again = again.expect_error(409, "key_state_conflict");
    assert!(!again.has("retry-after"), "{again}");
    let query = "SELECT name, administrator_id, address FROM security_events WHERE trace_id = $1 ORDER BY id";
    type Event = (String, Option<i64>, Option<String>);
    let events = fetch_all!(world.db().await.reader(), Event, query, reply.correlation_id()).unwrap();
    let by_admin = |name: &str| (name.to_owned(), Some(admin.id), Some("127.0.0.1".to_owned()));
    let expected = ["key_compromised", "key_activated", "key_staged"].map(by_admin);
    assert_eq!(events, expected);
}

async fn keys_that_cannot_be_retired_stay(world: World) {
    let admin = world.user_with_role("admin").await;
    let (before, staged) = (keys(&world, &admin).await, key_in_state(&world, "staged"));
    let refused = admin.post(&retirements(&staged)).await;
    let refused = refused.expect_error(409, "key_state_conflict");
    assert!(
        !refused.has("retry-after") && refused.text().contains("staged"),
        "{refused}"
    );
    for unknown in ["nobody", "%00", "%FF", &"k".repeat(300)] {
        // Even with a body that is not valid.
        let call = admin.post(&retirements(unknown)).json(&json!([]));
        call.await.expect_error(404, "not_found");
    }
    for (body, pointer) in [
        (json!({ "compromised": "yes" }), "/compromised"),
        (json!({ "compromised": null }), "/compromised"),
        (json!({ "compromise": true }), "/compromise"),
        (json!([]), ""),
    ] {
        let reply = admin.post(&retirements(&staged)).json(&body).await;
        reply.expect_validation_errors(&[pointer]);
    }
    assert_eq!(keys(&world, &admin).await, before);
}

on_every_shape!(
    a_rotation_waits_until_the_staged_key_may_sign,
    a_retired_key_is_deleted_after_its_last_token,
    a_compromised_key_is_deleted_at_once,
    keys_that_cannot_be_retired_stay,
);
