//! The list of sessions, and ending them.

use serde_json::{Value, json};
use tests::{PASSWORD, Shape, SharedWorld, User, World, on_every_shape};

async fn listed(user: &User) -> Vec<Value> {
    let list = user.get("/me/sessions").await.expect(200).json();
    list["items"].as_array().unwrap().clone()
}

/// The id of the current session.
async fn current(user: &User) -> String {
    let all = listed(user).await;
    let mut current = all.iter().filter(|session| session["current"] == true);
    let (Some(only), None) = (current.next(), current.next()) else {
        panic!("expected one current session: {all:?}")
    };
    only["id"].to_string()
}

async fn sessions_list_time_address_and_user_agent(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let user_agent = format!("Some Browser/1.0 \u{85}{}", "z".repeat(300));
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let login = world
        .anyone()
        .post("/login")
        .json(&body)
        .header("user-agent", &user_agent);
    login.await.expect(200);
    let all = listed(&ann).await;
    assert_eq!(all.len(), 2, "{all:?}");
    let other = all.iter().find(|session| session["current"] == false).unwrap();
    assert_eq!(other["address"], ann.address().to_string());
    let agent = other["user_agent"].as_str().unwrap();
    assert_eq!(agent.chars().count(), 200, "{agent}");
    assert!(agent.starts_with("Some Browser/1.0 zzz"), "{agent}");
    let mine = all.iter().find(|session| session["current"] == true).unwrap();
    assert!(mine["user_agent"].is_null(), "reqwest sends none: {mine}");
    assert!(mine["created_at"].as_str() <= mine["last_seen_at"].as_str());
    assert!(mine["last_seen_at"].as_str() < mine["expires_at"].as_str());
    assert_eq!(listed(&bob).await.len(), 1);
    let text = ann.get("/me/sessions").await.text();
    assert!(!text.contains(&ann.sid), "{text}");
}

async fn ending_a_session_revokes_its_first_party_tokens(world: SharedWorld) {
    let ann = world.user().await;
    let lost = world.log_in(&ann.email, PASSWORD).await;
    let (ours, theirs) = (world.app().first_party().register(), world.app().register());
    let tokens = ours.tokens(&lost, "posts:read").await;
    let of_third = theirs.tokens(&lost, "posts:read").await;
    let path = format!("/me/sessions/{}", current(&lost).await);
    let ended = ann.delete(&path).await.expect(204);
    assert!(ended.set_cookie("sid").is_none(), "{ended}");
    lost.get("/me").await.expect_error(401, "unauthenticated");
    tokens.expect_revoked(&world, &ours).await;
    let third = world.anyone().bearer(&of_third.access);
    third.get("/protected").await.expect(200);
    ann.get("/me").await.expect(200);
    ann.delete(&path).await.expect_error(404, "not_found");
}

async fn ending_the_current_session_clears_its_cookie(world: SharedWorld) {
    let ann = world.user().await;
    let path = format!("/me/sessions/{}", current(&ann).await);
    let ended = ann.delete(&path).await.expect(204);
    assert!(ended.set_cookie("sid").unwrap().contains("Max-Age=0"), "{ended}");
    ann.get("/me").await.expect_error(401, "unauthenticated");
}

async fn sessions_of_other_users_answer_404(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let path = format!("/me/sessions/{}", current(&ann).await);
    let hidden = bob.delete(&path).await.expect_error(404, "not_found");
    let missing = bob.delete("/me/sessions/999999").await;
    assert_eq!(hidden.comparable_parts(), missing.comparable_parts());
    for id in ["abc", "0", "-1", "+1"] {
        let reply = bob.delete(&format!("/me/sessions/{id}")).await;
        reply.expect_error(404, "not_found");
    }
    ann.get("/me").await.expect(200);
}

async fn ended_sessions_are_not_listed(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    world.advance(std::time::Duration::from_secs(3601));
    let again = world.log_in(&ann.email, PASSWORD).await;
    assert_eq!(listed(&again).await.len(), 1);
}

async fn session_endpoints_require_the_initial_password_to_be_changed(world: SharedWorld) {
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = made["initial_password"].as_str().unwrap();
    let ann = world.log_in(&email, initial).await;
    for (method, path) in [
        ("GET", "/me/sessions"),
        ("GET", "/me/grants"),
        ("GET", "/me/export"),
        ("DELETE", "/me/grants/demo"),
    ] {
        let reply = ann.call(method, path).await;
        reply.expect_error(403, "password_change_required");
    }
}

on_every_shape!(
    sessions_list_time_address_and_user_agent,
    ending_a_session_revokes_its_first_party_tokens,
    ending_the_current_session_clears_its_cookie,
    sessions_of_other_users_answer_404,
    ended_sessions_are_not_listed,
    session_endpoints_require_the_initial_password_to_be_changed,
);
