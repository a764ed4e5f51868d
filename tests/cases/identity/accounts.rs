//! Accounts: sign-up, sign-in, passwords, disabling.

mod administration;
mod commands;
mod connected_apps;
mod deletion_and_export;
mod ended_mid_request;
mod erasure;
mod large_accounts;
mod mfa;
mod mfa_guesses;
mod mfa_races;
mod session_list;

use identity::passwords::{Passwords, Policy};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use storage::{execute, fetch_one};
use tests::{
    PASSWORD, Shape, SharedWorld, World, on_every_shape, on_one_process, run_concurrently, status_counts,
};

async fn signing_up_returns_the_user_record_without_a_session(world: SharedWorld) {
    let email = " Ann.Example@Example.ORG ";
    let reply = world
        .anyone()
        .post("/users")
        .json(&json!({ "email": email, "password": PASSWORD }))
        .await
        .expect(201);
    let user = reply.json();
    let members: Vec<&String> = user.as_object().unwrap().keys().collect();
    assert_eq!(members.len(), 6, "{user}");
    assert_eq!(
        (&user["email"], &user["role"]),
        (&json!("Ann.Example@Example.ORG"), &json!("user"))
    );
    assert_eq!(user["email_verified"], json!(false));
    assert_eq!(user["created_at"], user["updated_at"]);
    let location = reply.header("location");
    assert_eq!(location, format!("/users/{}", user["id"]));
    assert!(reply.set_cookie("sid").is_none(), "signing up does not sign in");
    let ann = world.log_in("ann.example@example.org", PASSWORD).await;
    assert_eq!(ann.get(location).await.expect(200).json(), user);
}

async fn users_are_readable_by_themselves_and_by_administrators(world: SharedWorld) {
    let (ann, bob, admin) = (
        world.user().await,
        world.user().await,
        world.user_with_role("admin").await,
    );
    let path = format!("/users/{}", ann.id);
    let hidden = bob.get(&path).await.expect_error(404, "not_found");
    let missing = bob.get("/users/999999").await.expect_error(404, "not_found");
    assert_eq!(hidden.comparable_parts(), missing.comparable_parts());
    ann.get(&path).await.expect(200);
    admin.get(&path).await.expect(200);
    world
        .anyone()
        .get(&path)
        .await
        .expect_error(401, "unauthenticated");
}

async fn email_addresses_are_unique_regardless_of_spelling(world: SharedWorld) {
    let ann = world.user().await;
    for email in [
        ann.email.clone(),
        ann.email.to_uppercase(),
        format!("  {} ", ann.email),
    ] {
        let body = json!({ "email": email, "password": PASSWORD });
        world
            .anyone()
            .post("/users")
            .json(&body)
            .await
            .expect_error(409, "email_taken");
    }
}

async fn malformed_emails_and_passwords_are_rejected(world: SharedWorld) {
    let anyone = world.anyone();
    let sign_up = |email: &str, password: &str| {
        anyone
            .post("/users")
            .json(&json!({ "email": email, "password": password }))
    };
    for email in [
        "",
        "ann",
        "@example.org",
        "a b@example.org",
        "a@b@c.org",
        "é@example.org",
        "a\u{0}@example.org",
    ] {
        sign_up(email, PASSWORD).await.expect(422);
    }
    for password in ["", "7 chars", &"x".repeat(129), &"x".repeat(60_000)] {
        sign_up("ann@example.org", password)
            .await
            .expect_validation_errors(&["/password"]);
    }
    sign_up("nobody", "short")
        .await
        .expect_validation_errors(&["/email", "/password"]);
    for password in ["8 chars!", &"\u{1f511}".repeat(128), "no digits nor capitals"] {
        sign_up(&world.fresh_email(), password).await.expect(201);
    }
}

async fn passwords_are_normalized_and_never_truncated(world: SharedWorld) {
    let long = "é".repeat(73);
    let composed = format!("{long}x");
    let email = world.fresh_email();
    let body = json!({ "email": email, "password": composed });
    world.anyone().post("/users").json(&body).await.expect(201);
    world.log_in(&email, &composed.replace('é', "e\u{301}")).await;
    let other_end = json!({ "email": email, "password": format!("{long}y") });
    world.anyone().post("/login").json(&other_end).await.expect(401);
}

async fn a_failed_login_has_an_empty_body_and_reveals_nothing(world: SharedWorld) {
    let ann = world.user().await;
    let refused = |email: &str, password: &str| {
        let body = json!({ "email": email, "password": password });
        world.anyone().post("/login").json(&body)
    };
    let wrong = refused(&ann.email, "not the password").await.expect(401);
    assert!(wrong.body.is_empty(), "{wrong}");
    assert!(wrong.set_cookie("sid").is_none(), "{wrong}");
    for email in ["unknown_user@example.org", "no address at all", ""] {
        let unknown = refused(email, "not the password").await;
        assert_eq!(unknown.comparable_parts(), wrong.comparable_parts());
    }
}

async fn changing_the_password_ends_all_sessions_and_tokens(world: SharedWorld) {
    let ann = world.user().await;
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let bystander = world.user().await;
    let change = |current: &str, new: &str| {
        ann.call("PUT", "/me/password")
            .json(&json!({ "current_password": current, "new_password": new }))
    };
    change("not the password", "a new good password")
        .await
        .expect_validation_errors(&["/current_password"]);
    change(PASSWORD, "short")
        .await
        .expect_validation_errors(&["/new_password"]);
    ann.get("/me").await.expect(200);
    change(PASSWORD, "a new good password").await.expect(204);
    for session in [&ann, &elsewhere] {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_revoked(&world, &app).await;
    bystander.get("/me").await.expect(200);
    let old = json!({ "email": ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&old).await.expect(401);
    world.log_in(&ann.email, "a new good password").await;
}

async fn rehashing_a_password_does_not_fail_concurrent_sign_ins(shape: Shape) {
    let world = World::builder(shape).flag("--argon2-permits", "8").start().await;
    let ann = world.user().await;
    // A hash of the same password with fewer passes.
    let outdated = Passwords::new(Policy {
        memory_kib: 19_456,
        passes: 1,
        permits: 1,
        min_length: 8,
    })
    .unwrap();
    let hash = outdated
        .hash(outdated.parse_new(PASSWORD).unwrap())
        .await
        .unwrap();
    let (db, update) = (
        world.db().await,
        "UPDATE users SET password_hash = $1 WHERE id = $2",
    );
    execute!(db.writer(), update, hash.as_str(), ann.id).unwrap();
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let anyone = world.anyone();
    let replies = run_concurrently(5, |_| anyone.post("/login").json(&body).into_future()).await;
    assert_eq!(
        status_counts(&replies).get(&200),
        Some(&5),
        "{:?}",
        status_counts(&replies)
    );
    let query = "SELECT password_hash FROM users WHERE id = $1";
    let (renewed,) = fetch_one!(db.reader(), (String,), query, ann.id).unwrap();
    assert!(renewed.contains("t=2"), "{renewed}");
    ann.get("/me").await.expect(200);
}

async fn the_first_administrator_must_change_the_initial_password(world: World) {
    let file = world.data_dir().join("admin-password");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let initial = std::fs::read_to_string(file).unwrap().trim().to_owned();
    let admin = world.log_in("admin@localhost", &initial).await;
    let names_password = async || {
        let front = world.browser().open("/").await;
        front.visible_text().contains("admin-password")
    };
    assert!(names_password().await);
    for call in [
        admin.get("/posts"),
        admin.post("/posts").json(&json!({ "title": "x" })),
        admin.get(&format!("/users/{}", admin.id)),
    ] {
        call.await.expect_error(403, "password_change_required");
    }
    let body = json!({ "current_password": initial, "new_password": "a password of their own" });
    admin.call("PUT", "/me/password").json(&body).await.expect(204);
    let used = json!({ "email": "admin@localhost", "password": initial });
    world.anyone().post("/login").json(&used).await.expect(401);
    assert!(!names_password().await);
    let admin = world.log_in("admin@localhost", "a password of their own").await;
    admin.get("/posts").await.expect(200);
    let users: Value = world.cli(&["users", "list", "--json"], "");
    assert_eq!(users[0]["email"], "admin@localhost");
    assert_eq!(users[0]["role"], "admin");
}

async fn disabling_a_user_ends_access_and_enabling_restores_sign_in(world: SharedWorld) {
    let (ann, bystander) = (world.user().await, world.user().await);
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    let disabled = world.cli(&["users", "disable", "--email", &ann.email, "--json"], "");
    assert_eq!(disabled["id"], json!(ann.id));
    ann.get("/me").await.expect_error(401, "unauthenticated");
    app.exchange(&world.anyone(), &grant)
        .await
        .expect_token_error(400, "invalid_grant");
    let body = json!({ "email": ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&body).await.expect(401);
    bystander.get("/me").await.expect(200);
    world.expect_revoked_soon(&tokens.access).await;
    // Enabling the user does not undo the revocation.
    world.cli(&["users", "enable", "--email", &ann.email, "--json"], "");
    for port in world.api_ports() {
        let api = world.anyone().at(&format!("http://localhost:{port}"));
        api.bearer(&tokens.access)
            .get("/protected")
            .await
            .expect_error(401, "invalid_token");
    }
    ann.get("/me").await.expect_error(401, "unauthenticated");
    world.log_in(&ann.email, PASSWORD).await;
    tokens.expect_revoked(&world, &app).await;
    let unknown_user = world.run(&["users", "disable", "--email", "unknown_user@example.org"], "");
    assert_eq!(unknown_user.status.code(), Some(1), "{unknown_user:?}");
}

on_every_shape!(
    disabling_a_user_ends_access_and_enabling_restores_sign_in,
    signing_up_returns_the_user_record_without_a_session,
    users_are_readable_by_themselves_and_by_administrators,
    email_addresses_are_unique_regardless_of_spelling,
    malformed_emails_and_passwords_are_rejected,
    passwords_are_normalized_and_never_truncated,
    a_failed_login_has_an_empty_body_and_reveals_nothing,
    changing_the_password_ends_all_sessions_and_tokens,
    rehashing_a_password_does_not_fail_concurrent_sign_ins,
);

on_one_process!(the_first_administrator_must_change_the_initial_password);
