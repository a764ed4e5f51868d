//! Creation of users by an administrator.

use super::{USERS, expect_event, listed};
use serde_json::{Value, json};
use tests::{PASSWORD, SharedWorld, items, on_every_shape};

/// The hash of [`PASSWORD`], computed by crypt(3).
const BCRYPT: &str = "$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG";

async fn a_created_user_can_sign_in(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    for (member, value) in [("password", PASSWORD), ("password_hash", BCRYPT)] {
        let email = world.fresh_email();
        let body = json!({ "email": email, "role": "editor", member: value });
        let reply = admin.post(USERS).json(&body).await.expect(201);
        let created = reply.json();
        assert_eq!(
            (&created["email"], &created["role"]),
            (&json!(email), &json!("editor"))
        );
        assert_eq!(
            (&created["mfa_enabled"], &created["disabled_at"]),
            (&json!(false), &json!(null))
        );
        assert_eq!(created, listed(&world, &created["id"]));
        let location = reply.header("location");
        assert_eq!(location, format!("{USERS}/{}", created["id"]));
        assert_eq!(admin.get(location).await.expect(200).json(), created);
        let id = created["id"].as_i64().unwrap();
        expect_event(&world, &reply, "user_created", id, None, &admin).await;
        let events = format!("/admin/events?user_id={id}&name=user_created");
        let events = items(&admin.get(&events).await.expect(200));
        assert_eq!((events.len(), &events[0]["detail"]), (1, &json!("editor")));
        let user = world.log_in(&email, PASSWORD).await;
        user.get("/posts").await.expect(200);
        let again = json!({ "email": email.to_uppercase(), "password": PASSWORD });
        admin
            .post(USERS)
            .json(&again)
            .await
            .expect_error(409, "email_taken");
    }
}

async fn an_initial_password_is_shown_once(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let email = world.fresh_email();
    let reply = admin
        .post(USERS)
        .json(&json!({ "email": email }))
        .await
        .expect(201);
    assert_eq!(reply.header("cache-control"), "no-store");
    let mut created = reply.json();
    let password = created.as_object_mut().unwrap().remove("initial_password");
    assert_eq!(
        (&created["role"], &created),
        (&json!("user"), &listed(&world, &created["id"]))
    );
    assert_eq!(
        admin.get(reply.header("location")).await.expect(200).json(),
        created
    );
    let user = world.log_in(&email, password.unwrap().as_str().unwrap()).await;
    let refused = user.get("/posts").await;
    refused.expect_error(403, "password_change_required");
}

async fn invalid_users_are_refused(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let email = world.fresh_email();
    let good = json!({ "email": email, "password": PASSWORD });
    for (member, value, pointers) in [
        ("email", json!("nobody"), ["/email"].as_slice()),
        ("email", json!(null), &["/email"]),
        ("role", json!("root"), &["/role"]),
        ("role", json!(null), &["/role"]),
        ("password", json!("short"), &["/password"]),
        ("password", json!(email), &["/password"]),
        ("password_hash", json!(BCRYPT), &["/password_hash"]),
        ("id", json!(1), &["/id"]),
        ("email_verified", json!(true), &["/email_verified"]),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let refused = admin.post(USERS).json(&body).await;
        refused.expect_validation_errors(pointers);
    }
    for hash in [
        "plain text",
        "$2b$15$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG",
    ] {
        let body = json!({ "email": email, "password_hash": hash });
        let refused = admin.post(USERS).json(&body).await;
        refused.expect_validation_errors(&["/password_hash"]);
    }
    let missing = admin.post(USERS).json(&json!({})).await;
    missing.expect_validation_errors(&["/email"]);
    let users = world.cli(&["users", "list", "--json"], "");
    let is_refused = |user: &Value| user["email"] == email;
    assert!(!users.as_array().unwrap().iter().any(is_refused));
}

on_every_shape!(
    a_created_user_can_sign_in,
    an_initial_password_is_shown_once,
    invalid_users_are_refused,
);
