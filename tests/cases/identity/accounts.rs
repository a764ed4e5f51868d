//! Signing up, in and out; sessions and how they end; passwords.

mod commands;
mod connected_apps;
mod deletion_and_export;
mod mfa;
mod mfa_guesses;
mod mfa_races;
mod session_list;
mod slow_bodies;

use serde_json::{Value, json};
use shared::identity::passwords::{Passwords, Policy};
use shared::{execute, fetch_one};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use tests::{PASSWORD, Shape, World, all_at_once, counts, on_every_shape, on_one_process};

async fn a_new_user_gets_the_record_and_no_more(world: World) {
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
    assert!(reply.set_cookie("sid").is_none(), "signing up is not signing in");
    let ann = world.log_in("ann.example@example.org", PASSWORD).await;
    assert_eq!(ann.get(location).await.expect(200).json(), user);
}

async fn a_user_is_seen_by_themselves_and_by_administrators(world: World) {
    let (ann, bob, admin) = (
        world.sign_up().await,
        world.sign_up().await,
        world.someone("admin").await,
    );
    let path = format!("/users/{}", ann.id);
    let hidden = bob.get(&path).await.expect_error(404, "not_found");
    let missing = bob.get("/users/999999").await.expect_error(404, "not_found");
    assert_eq!(hidden.anonymised(), missing.anonymised());
    ann.get(&path).await.expect(200);
    admin.get(&path).await.expect(200);
    world
        .anyone()
        .get(&path)
        .await
        .expect_error(401, "unauthenticated");
}

async fn an_address_belongs_to_one_account_however_it_is_written(world: World) {
    let ann = world.sign_up().await;
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

async fn what_is_no_address_or_no_password_is_refused(world: World) {
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
            .expect_faults(&["/password"]);
    }
    sign_up("nobody", "short")
        .await
        .expect_faults(&["/email", "/password"]);
    for password in ["8 chars!", &"\u{1f511}".repeat(128), "no digits nor capitals"] {
        sign_up(&world.fresh_email(), password).await.expect(201);
    }
}

async fn a_password_is_the_same_in_every_normal_form_and_counts_to_its_end(world: World) {
    let long = "é".repeat(73);
    let composed = format!("{long}x");
    let email = world.fresh_email();
    let body = json!({ "email": email, "password": composed });
    world.anyone().post("/users").json(&body).await.expect(201);
    world.log_in(&email, &composed.replace('é', "e\u{301}")).await;
    let other_end = json!({ "email": email, "password": format!("{long}y") });
    world.anyone().post("/login").json(&other_end).await.expect(401);
}

async fn a_refused_login_has_no_body_and_tells_nothing(world: World) {
    let ann = world.sign_up().await;
    let refused = |email: &str, password: &str| {
        let body = json!({ "email": email, "password": password });
        world.anyone().post("/login").json(&body)
    };
    let wrong = refused(&ann.email, "not the password").await.expect(401);
    assert!(wrong.body.is_empty(), "{wrong}");
    assert!(wrong.set_cookie("sid").is_none(), "{wrong}");
    for email in ["nobody@example.org", "no address at all", ""] {
        let unknown = refused(email, "not the password").await;
        assert_eq!(unknown.anonymised(), wrong.anonymised());
    }
}

async fn a_new_password_ends_every_session_and_every_token(world: World) {
    let ann = world.sign_up().await;
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    let app = world.app().register();
    let tokens = app.tokens(&ann, "posts:read").await;
    let bystander = world.sign_up().await;
    let change = |current: &str, new: &str| {
        ann.call("PUT", "/me/password")
            .json(&json!({ "current_password": current, "new_password": new }))
    };
    change("not the password", "a new good password")
        .await
        .expect_faults(&["/current_password"]);
    change(PASSWORD, "short").await.expect_faults(&["/new_password"]);
    ann.get("/me").await.expect(200);
    change(PASSWORD, "a new good password").await.expect(204);
    for session in [&ann, &elsewhere] {
        session.get("/me").await.expect_error(401, "unauthenticated");
    }
    tokens.expect_dead(&world, &app).await;
    bystander.get("/me").await.expect(200);
    let old = json!({ "email": ann.email, "password": PASSWORD });
    world.anyone().post("/login").json(&old).await.expect(401);
    world.log_in(&ann.email, "a new good password").await;
}

async fn a_hash_renewed_by_one_sign_in_refuses_no_other(shape: Shape) {
    let world = World::of(shape).flag("--argon2-permits", "8").start().await;
    let ann = world.sign_up().await;
    // What the same password cost when passes were fewer.
    let outdated = Passwords::new(Policy {
        memory_kib: 19_456,
        passes: 1,
        permits: 1,
        min_length: 8,
    })
    .unwrap();
    let hash = outdated.hash(outdated.choose(PASSWORD).unwrap()).await.unwrap();
    let (db, update) = (
        world.db().await,
        "UPDATE users SET password_hash = $1 WHERE id = $2",
    );
    execute!(db.writer(), update, hash.as_str(), ann.id).unwrap();
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let anyone = world.anyone();
    let replies = all_at_once(5, |_| anyone.post("/login").json(&body).into_future()).await;
    assert_eq!(counts(&replies).get(&200), Some(&5), "{:?}", counts(&replies));
    let query = "SELECT password_hash FROM users WHERE id = $1";
    let (renewed,) = fetch_one!(db.reader(), (String,), query, ann.id).unwrap();
    assert!(renewed.contains("t=2"), "{renewed}");
    ann.get("/me").await.expect(200);
}

async fn the_administrator_changes_the_one_time_password_first(world: World) {
    let file = world.data_dir().join("admin-password");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let one_time = std::fs::read_to_string(file).unwrap().trim().to_owned();
    let admin = world.log_in("admin@localhost", &one_time).await;
    for call in [
        admin.get("/posts"),
        admin.post("/posts").json(&json!({ "title": "x" })),
        admin.get(&format!("/users/{}", admin.id)),
    ] {
        call.await.expect_error(403, "password_change_required");
    }
    let body = json!({ "current_password": one_time, "new_password": "a password of their own" });
    admin.call("PUT", "/me/password").json(&body).await.expect(204);
    let used = json!({ "email": "admin@localhost", "password": one_time });
    world.anyone().post("/login").json(&used).await.expect(401);
    let admin = world.log_in("admin@localhost", "a password of their own").await;
    admin.get("/posts").await.expect(200);
    let users: Value = world.cli(&["users", "list", "--json"], "");
    assert_eq!(users[0]["email"], "admin@localhost");
    assert_eq!(users[0]["role"], "admin");
}

async fn a_disabled_user_is_out_at_once_and_an_enabled_one_may_come_back(world: World) {
    let (ann, bystander) = (world.sign_up().await, world.sign_up().await);
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
    for port in world.api_ports() {
        let api = world.anyone().at(&format!("http://localhost:{port}"));
        api.bearer(&tokens.access)
            .get("/protected")
            .await
            .expect_error(401, "invalid_token");
    }
    // What the commands did beside the servers, these know within a second; enabled or not, what was revoked
    // stays so.
    world.cli(&["users", "enable", "--email", &ann.email, "--json"], "");
    world
        .expect_revoked_within(Duration::from_secs(1), &tokens.access)
        .await;
    ann.get("/me").await.expect_error(401, "unauthenticated");
    world.log_in(&ann.email, PASSWORD).await;
    tokens.expect_dead(&world, &app).await;
    let nobody = world.run(&["users", "disable", "--email", "nobody@example.org"], "");
    assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
}

on_every_shape!(
    a_disabled_user_is_out_at_once_and_an_enabled_one_may_come_back,
    a_new_user_gets_the_record_and_no_more,
    a_user_is_seen_by_themselves_and_by_administrators,
    an_address_belongs_to_one_account_however_it_is_written,
    what_is_no_address_or_no_password_is_refused,
    a_password_is_the_same_in_every_normal_form_and_counts_to_its_end,
    a_refused_login_has_no_body_and_tells_nothing,
    a_new_password_ends_every_session_and_every_token,
    a_hash_renewed_by_one_sign_in_refuses_no_other,
);

on_one_process!(the_administrator_changes_the_one_time_password_first);
