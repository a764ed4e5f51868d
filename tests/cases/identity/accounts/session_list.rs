//! The list of sessions, and ending them.

use serde_json::{Value, json};
use storage::fetch_one;
use tests::{PASSWORD, Shape, SharedWorld, User, World, on_every_shape, run_concurrently, status_counts};

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

async fn ending_all_other_sessions_keeps_the_current_one(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    let others = world.start_sessions(&ann, 2).await;
    let (ours, theirs) = (world.app().first_party().register(), world.app().register());
    let lost = ours.tokens(&others[0], "posts:read").await;
    let kept = ours.tokens(&ann, "posts:read").await;
    let of_third = theirs.tokens(&others[1], "posts:read").await;
    let forged = ann.delete("/me/sessions").without("x-csrf-token").await;
    forged.expect_error(403, "csrf_mismatch");
    assert_eq!(listed(&ann).await.len(), 3);

    let ended = ann.delete("/me/sessions").await.expect(204);
    assert!(ended.set_cookie("sid").is_none(), "{ended}");
    for other in &others {
        other.get("/me").await.expect_error(401, "unauthenticated");
    }
    lost.expect_revoked(&world, &ours).await;
    let db = world.db().await;
    let events = "SELECT COUNT(*) FROM security_events WHERE user_id = $1 AND name = 'authn_session_revoked'";
    assert_eq!(fetch_one!(db.reader(), (i64,), events, ann.id).unwrap(), (2,));

    // This session, the tokens of its apps and those of third parties go on, and so do the sessions of
    // others.
    assert_eq!(listed(&ann).await.len(), 1);
    for tokens in [&kept, &of_third] {
        world.expect_accepted(&tokens.access).await;
    }
    bob.get("/me").await.expect(200);
    ann.delete("/me/sessions").await.expect(204);
    ann.get("/me").await.expect(200);
}

async fn of_sessions_that_end_each_other_one_is_kept(world: SharedWorld) {
    let ann = world.user().await;
    let mut sessions = world.start_sessions(&ann, 2).await;
    sessions.push(ann);
    let end_others = |n: usize| sessions[n].delete("/me/sessions").into_future();
    let replies = run_concurrently(sessions.len(), end_others).await;
    assert_eq!(status_counts(&replies), [(204, 1), (401, 2)].into());
    let mut statuses = Vec::new();
    for session in &sessions {
        statuses.push(session.get("/me").await.status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401]);
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
        ("DELETE", "/me/sessions"),
        ("DELETE", "/me/password"),
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
    ending_all_other_sessions_keeps_the_current_one,
    of_sessions_that_end_each_other_one_is_kept,
    sessions_of_other_users_answer_404,
    ended_sessions_are_not_listed,
    session_endpoints_require_the_initial_password_to_be_changed,
);
