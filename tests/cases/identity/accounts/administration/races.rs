//! An administrator whose role or session ends while a password is hashed. The credentials of the request
//! were checked before, so the change itself must check the administrator again.

use super::{USERS, path};
use serde_json::json;
use std::future::IntoFuture as _;
use storage::fetch_one;
use tests::{Caller, Shape, User, World, on_every_shape};

/// The number of concurrent requests. All but one wait for the only permit to hash.
const REQUESTS: usize = 24;

/// Sends requests that hash passwords, and ends the access of the administrator when the first one has
/// succeeded. Expects that none has an effect after that.
async fn expect_no_later_change(world: &World, admin: &User, caller: &Caller, end: tests::Call, event: &str) {
    let ann = world.user().await;
    let mut requests = tokio::task::JoinSet::new();
    for n in 0..REQUESTS {
        let request = match n % 2 {
            0 => caller.post(USERS).json(&json!({ "email": world.fresh_email() })),
            _ => caller.call("PUT", &format!("{}/password", path(&ann))),
        };
        requests.spawn(request.may_fail().into_future());
    }
    let first = requests.join_next().await.unwrap().unwrap();
    assert!([200, 201].contains(&first.status), "{first}");
    assert!([200, 204].contains(&end.await.status));
    while let Some(reply) = requests.join_next().await {
        let reply = reply.unwrap();
        assert!([200, 201, 401, 503].contains(&reply.status), "{reply}");
    }
    let last = "SELECT MAX(id) FROM security_events WHERE administrator_id = $1";
    let ended = "SELECT MAX(id) FROM security_events WHERE user_id = $1 AND name = $2";
    let db = world.db().await;
    let (last,) = fetch_one!(db.reader(), (i64,), last, admin.id).unwrap();
    let (ended,) = fetch_one!(db.reader(), (i64,), ended, admin.id, event).unwrap();
    assert!(last < ended, "a change after {event}");
}

async fn an_administrator_who_is_signed_out_meanwhile_changes_nothing(shape: Shape) {
    let world = World::builder(shape).flag("--argon2-permits", "1").start().await;
    let (other, app) = (world.user_with_role("admin").await, world.app().register());
    let demotion = |admin: &User| other.patch(&path(admin)).json(&json!({ "role": "user" }));
    let demoted = "privilege_permissions_changed";

    let admin = world.user_with_role("admin").await;
    expect_no_later_change(&world, &admin, &admin, demotion(&admin), demoted).await;
    let admin = world.user_with_role("admin").await;
    let token = app.tokens(&admin, "admin").await.access;
    let by_token = world.anyone().bearer(&token);
    expect_no_later_change(&world, &admin, &by_token, demotion(&admin), demoted).await;
    let admin = world.user_with_role("admin").await;
    expect_no_later_change(&world, &admin, &admin, admin.post("/logout"), "authn_logout").await;
    let admin = world.user_with_role("admin").await;
    let token = app.tokens(&admin, "admin").await.access;
    let by_token = world.anyone().bearer(&token);
    let signed_out = other.delete(&format!("{}/sessions", path(&admin)));
    expect_no_later_change(&world, &admin, &by_token, signed_out, "authn_session_revoked").await;
}

on_every_shape!(an_administrator_who_is_signed_out_meanwhile_changes_nothing);
