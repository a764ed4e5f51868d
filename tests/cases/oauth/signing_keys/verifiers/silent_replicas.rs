//! Replicas of the API that no longer report: one that was stopped is forgotten, and one that may still verify
//! tokens is named.

use super::super::{STAGING_TIME, expect_command_error, key_in_state};
use super::{PAGE, verifiers, wait_until_apis_are_ready};
use serde_json::json;
use storage::fetch_one;
use tests::{Shape, World, eventually, on_every_shape, on_many_processes};

async fn a_suspended_replica_of_the_api_is_named_before_a_rotation(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let admin = world.user_with_role("admin").await;
    wait_until_apis_are_ready(&world, &admin).await;
    let [suspended, ..] = world.api_ports()[..] else {
        panic!("there is no API");
    };
    world.suspend(suspended);
    let active = world.cli(&["keys", "rotate", "--yes", "--json"], "")["active"].clone();
    let staged = key_in_state(&world, "staged");
    assert_ne!(active, json!(staged));
    eventually("the other replica is not ready", async || {
        let listed = world.cli(&["keys", "verifiers", "--json"], "");
        listed["api"] == json!({ "ready": 1, "all": 2 })
    })
    .await;
    let listed = world.cli(&["keys", "verifiers", "--json"], "");
    let name = listed["verifiers"][0]["name"].as_str().unwrap();
    assert!(name.ends_with(&format!(":{suspended}")), "{listed}");
    // It may still verify tokens long after its last report.
    world.advance(STAGING_TIME);
    let refused = expect_command_error(&world, &["keys", "rotate"]);
    let silent = format!(":{suspended}, which is silent since");
    assert!(refused.contains(&silent), "{refused}");
    let listed = world.cli(&["keys", "verifiers", "--json"], "");
    assert_eq!(listed["verifiers"][0]["silent"], true, "{listed}");
    let page = admin.browser().open(PAGE).await;
    let page = page.visible_text();
    assert!(
        page.contains(&format!(":{suspended} (API), silent for")),
        "{page}"
    );
    world.resume(suspended);
    wait_until_apis_are_ready(&world, &admin).await;
}

/// So an installation with fewer replicas than before warns of nobody.
async fn a_stopped_replica_of_the_api_is_forgotten(shape: Shape) {
    let mut world = World::start(shape).await;
    let admin = world.user_with_role("admin").await;
    wait_until_apis_are_ready(&world, &admin).await;
    let db = world.db().await;
    world.stop().await;
    let count = "SELECT COUNT(*) FROM verifiers WHERE kind = 'api'";
    let (replicas,) = fetch_one!(db.reader(), (i64,), count).unwrap();
    assert_eq!(replicas, 0);
}

async fn a_suspended_replica_of_the_api_has_not_confirmed_a_retirement(shape: Shape) {
    let world = World::start(shape).await;
    let admin = world.user_with_role("admin").await;
    wait_until_apis_are_ready(&world, &admin).await;
    let [suspended, ..] = world.api_ports()[..] else {
        panic!("there is no API");
    };
    world.suspend(suspended);
    let active = key_in_state(&world, "active");
    world.cli(&["keys", "retire", "--compromised", &active, "--json"], "");
    let confirmed = async || {
        let page = admin.browser().open(PAGE).await.visible_text();
        let unconfirmed = page.contains(&format!(":{suspended} has not confirmed yet"));
        (
            page.matches("stopped accepting the tokens of the key within")
                .count(),
            unconfirmed,
        )
    };
    eventually("the other replica does not confirm", async || {
        confirmed().await == (1, true)
    })
    .await;
    world.resume(suspended);
    eventually("the suspended replica does not confirm", async || {
        confirmed().await == (2, false)
    })
    .await;
    let listed = verifiers(&admin).await;
    for verifier in listed["verifiers"].as_array().unwrap() {
        assert_eq!(verifier["dropped"][0]["kid"], active, "{verifier}");
    }
}

on_every_shape!(a_stopped_replica_of_the_api_is_forgotten);
on_many_processes!(
    a_suspended_replica_of_the_api_is_named_before_a_rotation,
    a_suspended_replica_of_the_api_has_not_confirmed_a_retirement,
);
