//! The sessions of all users.

use super::super::commands::Fixture;
use super::{expect_event, path};
use serde_json::{Value, json};
use std::time::Duration;
use tests::{PASSWORD, Shape, SharedWorld, User, World, cursor, ids, items, on_every_shape};

const SESSIONS: &str = "/admin/sessions";

async fn list(admin: &User, query: &str) -> Vec<Value> {
    items(&admin.get(&format!("{SESSIONS}{query}")).await.expect(200))
}

/// The only session of a user.
async fn session_of(admin: &User, user: &User) -> String {
    let [session] = list(admin, &format!("?user_id={}", user.id))
        .await
        .try_into()
        .unwrap();
    format!("{SESSIONS}/{}", session["id"])
}

async fn sessions_are_listed_newest_first(world: World) {
    let (admin, ann) = (world.user_with_role("admin").await, world.user().await);
    for _ in 0..20 {
        world.log_in(&ann.email, PASSWORD).await;
    }
    let of_ann = format!("?user_id={}", ann.id);
    let first = admin.get(&format!("{SESSIONS}{of_ann}")).await.expect(200);
    let next = first.json()["links"]["next"].as_str().unwrap().to_owned();
    assert!(next.contains(&format!("{of_ann}&cursor=")), "{next}");
    let second = admin.get(&next).await.expect(200);
    assert_eq!(second.json()["next"], json!(null));
    let all = [items(&first), items(&second)].concat();
    assert_eq!(all.len(), 21);
    assert!(ids(&all).is_sorted_by(|newer, older| newer > older));
    // The fields are those that the user sees, except for the mark of the current session.
    let mut own = items(&ann.get("/me/sessions").await.expect(200));
    own.sort_by_key(|session| std::cmp::Reverse(session["id"].as_i64()));
    for session in &mut own {
        session.as_object_mut().unwrap().remove("current").unwrap();
        session["user_id"] = json!(ann.id);
    }
    assert_eq!(all, own);
    let every = admin.get(SESSIONS).await.expect(200);
    assert!(!every.text().contains(&ann.sid), "{every}");
    assert_eq!(items(&every), items(&first));
    let twentieth = cursor(&all[19]["created_at"], &all[19]["id"]);
    let every = list(&admin, &format!("?cursor={twentieth}")).await;
    assert_eq!(every[0], all[20]);
    assert!(every.iter().any(|session| session["user_id"] == admin.id));
    for ignored in ["?user_id=x", "?user_id=0", "?cursor=-1", "?unknown=1"] {
        assert_eq!(list(&admin, ignored).await, items(&first), "{ignored}");
    }
    assert!(list(&admin, "?user_id=999999").await.is_empty());
}

async fn ended_sessions_are_not_listed(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, bob) = (world.user().await, world.user().await);
    world.advance(Duration::from_secs(3601));
    let admin = world.user_with_role("admin").await;
    assert!(list(&admin, &format!("?user_id={}", ann.id)).await.is_empty());
    let listed = list(&admin, "").await;
    assert!(
        listed.iter().all(|session| session["user_id"] != bob.id),
        "{listed:?}"
    );
}

async fn ending_a_session_revokes_its_first_party_tokens(world: SharedWorld) {
    let (admin, ann) = (world.user_with_role("admin").await, world.user().await);
    let (ours, theirs) = (world.app().first_party().register(), world.app().register());
    let tokens = ours.tokens(&ann, "posts:read").await;
    let of_third = theirs.tokens(&ann, "posts:read").await;
    let session = session_of(&admin, &ann).await;
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    let ended = admin.delete(&session).await.expect(204);
    ann.get("/me").await.expect_error(401, "unauthenticated");
    world.expect_revoked_soon(&tokens.access).await;
    tokens.expect_revoked(&world, &ours).await;
    world.expect_accepted(&of_third.access).await;
    elsewhere.get("/me").await.expect(200);
    expect_event(&world, &ended, "authn_session_revoked", ann.id, None, &admin).await;
    for missing in [
        &session,
        "/admin/sessions/999999",
        "/admin/sessions/+1",
        "/admin/sessions/x",
    ] {
        admin.delete(missing).await.expect_error(404, "not_found");
    }
}

async fn signing_a_user_out_ends_all_access(world: SharedWorld) {
    let (fixture, admin) = (Fixture::create(&world).await, world.user_with_role("admin").await);
    let bob = world.user().await;
    let ended = admin.delete(&format!("{}/sessions", path(&fixture.ann))).await;
    let ended = ended.expect(204);
    fixture.expect_signed_out(&world).await;
    expect_event(
        &world,
        &ended,
        "authn_session_revoked",
        fixture.ann.id,
        None,
        &admin,
    )
    .await;
    world.log_in(&fixture.ann.email, PASSWORD).await;
    bob.get("/me").await.expect(200);
}

on_every_shape!(
    sessions_are_listed_newest_first,
    ended_sessions_are_not_listed,
    ending_a_session_revokes_its_first_party_tokens,
    signing_a_user_out_ends_all_access,
);
