//! Changes of users by an administrator, which take effect in every process within a second.

use super::super::commands::Fixture;
use super::{expect_event, listed, path};
use serde_json::json;
use tests::{Authenticator, PASSWORD, SharedWorld, User, World, on_every_shape};

const NEW: &str = "a new good password";

async fn expect_wrong_password(world: &World, user: &User, password: &str) {
    let body = json!({ "email": user.email, "password": password });
    world.anyone().post("/login").json(&body).await.expect(401);
}

async fn a_new_role_takes_effect_immediately(world: SharedWorld) {
    let (fixture, admin) = (Fixture::create(&world).await, world.user_with_role("admin").await);
    let (ann, path) = (&fixture.ann, path(&fixture.ann));
    for unchanged in [json!({}), json!({ "role": "user" })] {
        let reply = admin.patch(&path).json(&unchanged).await.expect(200);
        assert_eq!(reply.json(), listed(&world, &json!(ann.id)));
    }
    ann.get("/me").await.expect(200);
    world.expect_accepted(&fixture.tokens.access).await;
    let changed = admin.patch(&path).json(&json!({ "role": "editor" })).await;
    let changed = changed.expect(200);
    assert_eq!(changed.json()["role"], "editor");
    assert_eq!(changed.json(), listed(&world, &json!(ann.id)));
    fixture.expect_signed_out(&world).await;
    expect_event(
        &world,
        &changed,
        "privilege_permissions_changed",
        ann.id,
        None,
        &admin,
    )
    .await;
    let draft = world.user().await.draft("A draft").await;
    let editor = world.log_in(&ann.email, PASSWORD).await;
    editor.get(&draft.path).await.expect(200);
    for (body, pointer) in [
        (json!({ "role": "root" }), "/role"),
        (json!({ "role": null }), "/role"),
        (json!({ "email": "other@example.org" }), "/email"),
        (json!({ "disabled_at": null }), "/disabled_at"),
    ] {
        let refused = admin.patch(&path).json(&body).await;
        refused.expect_validation_errors(&[pointer]);
    }
}

async fn a_disabled_user_has_no_access(world: SharedWorld) {
    let (fixture, admin) = (Fixture::create(&world).await, world.user_with_role("admin").await);
    let (ann, path) = (&fixture.ann, path(&fixture.ann));
    let disabled = admin.post(&format!("{path}/disablements")).await.expect(200);
    assert!(disabled.json()["disabled_at"].is_string(), "{disabled}");
    fixture.expect_signed_out(&world).await;
    expect_event(&world, &disabled, "user_disabled", ann.id, None, &admin).await;
    expect_wrong_password(&world, ann, PASSWORD).await;
    assert_eq!(admin.get(&path).await.expect(200).json(), disabled.json());
    assert_eq!(listed(&world, &json!(ann.id)), disabled.json());
    // Again, it changes nothing.
    let again = admin.post(&format!("{path}/disablements")).await.expect(200);
    assert_eq!(again.json(), disabled.json());
    for _ in 0..2 {
        let enabled = admin.post(&format!("{path}/enablements")).await.expect(200);
        assert_eq!(enabled.json()["disabled_at"], json!(null));
    }
    world.log_in(&ann.email, PASSWORD).await;
    fixture.expect_signed_out(&world).await;
}

async fn a_set_password_ends_all_access_and_notifies_the_user(world: SharedWorld) {
    let (fixture, admin) = (Fixture::create(&world).await, world.user_with_role("admin").await);
    let (ann, path) = (&fixture.ann, format!("{}/password", path(&fixture.ann)));
    for (body, pointer) in [
        (json!({ "password": "short" }), "/password"),
        (json!({ "password": ann.email }), "/password"),
        (json!({ "password_hash": "$2b$04$" }), "/password_hash"),
    ] {
        let refused = admin.call("PUT", &path).json(&body).await;
        refused.expect_validation_errors(&[pointer]);
    }
    // It was sent as a password.
    world.unregister_secret(&ann.email);
    ann.get("/me").await.expect(200);
    world.confirm_email(&ann.email).await;
    let set = admin.call("PUT", &path).json(&json!({ "password": NEW })).await;
    let set = set.expect(200);
    assert_eq!(set.json(), listed(&world, &json!(ann.id)));
    fixture.expect_signed_out(&world).await;
    expect_event(&world, &set, "authn_password_change", ann.id, None, &admin).await;
    expect_wrong_password(&world, ann, PASSWORD).await;
    let again = world.log_in(&ann.email, NEW).await;
    again.get("/posts").await.expect(200);
    let generated = admin.call("PUT", &path).await.expect(200);
    assert_eq!(generated.header("cache-control"), "no-store");
    let password = generated.json()["initial_password"].as_str().unwrap().to_owned();
    expect_wrong_password(&world, ann, NEW).await;
    let user = world.log_in(&ann.email, &password).await;
    let refused = user.get("/posts").await;
    refused.expect_error(403, "password_change_required");
    let subject = "Your password was set by an administrator";
    world.mail(&ann.email, subject, 2).await;
}

async fn unlocking_ends_a_lockout(world: SharedWorld) {
    let (ann, admin) = (world.user().await, world.user_with_role("admin").await);
    for _ in 0..5 {
        expect_wrong_password(&world, &ann, "not the password").await;
    }
    let locked = world.anyone().login(&ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    let unlocked = admin
        .delete(&format!("{}/lockouts", path(&ann)))
        .await
        .expect(204);
    expect_event(&world, &unlocked, "authn_login_unlock", ann.id, None, &admin).await;
    world.log_in(&ann.email, PASSWORD).await;
    ann.get("/me").await.expect(200);
}

async fn resetting_two_step_sign_in_leaves_the_password(world: SharedWorld) {
    let (fixture, admin) = (Fixture::create(&world).await, world.user_with_role("admin").await);
    let path = format!("{}/mfa", path(&fixture.ann));
    admin.delete(&path).await.expect_error(404, "not_found");
    fixture.ann.get("/me").await.expect(200);
    world.confirm_email(&fixture.ann.email).await;
    let codes = Authenticator::enable(&world, &fixture.ann).await;
    let ann = world.log_in_with(&codes.sign_in(&world, &fixture.ann)).await;
    assert_eq!(listed(&world, &json!(ann.id))["mfa_enabled"], true);
    let fixture = Fixture {
        tokens: fixture.app.tokens(&ann, "posts:read").await,
        elsewhere: ann.clone(),
        ann,
        app: fixture.app,
    };
    let reset = admin.delete(&path).await.expect(204);
    fixture.expect_signed_out(&world).await;
    expect_event(&world, &reset, "authn_mfa_disabled", fixture.ann.id, None, &admin).await;
    world.log_in(&fixture.ann.email, PASSWORD).await;
    assert_eq!(listed(&world, &json!(fixture.ann.id))["mfa_enabled"], false);
    world.mail(&fixture.ann.email, "Two-step sign-in is off", 1).await;
}

async fn the_user_learns_of_changes_without_the_address_of_the_administrator(world: SharedWorld) {
    let (ann, admin) = (
        world.sign_up_and_log_in().await,
        world.user_with_role("admin").await,
    );
    admin
        .delete(&format!("{}/lockouts", path(&ann)))
        .await
        .expect(204);
    let export = ann.get("/me/export").await.expect(200).json();
    let events = export["security_events"].as_array().unwrap();
    let event = events.iter().find(|event| event["name"] == "authn_login_unlock");
    let event = event.unwrap();
    assert_eq!(
        (&event["administrator_id"], &event["address"]),
        (&json!(admin.id), &json!(null))
    );
    let own = events.iter().find(|event| event["name"] == "authn_login_success");
    assert_eq!(own.unwrap()["address"], ann.address().to_string());
}

async fn unknown_users_are_not_found(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let mut ids = tests::invalid_id_spellings(admin.id);
    ids.push("999999".to_owned());
    for id in ids {
        let path = format!("{}/{id}", super::USERS);
        for (method, below) in [
            ("GET", ""),
            ("POST", "/disablements"),
            ("POST", "/enablements"),
            ("DELETE", "/lockouts"),
            ("DELETE", "/mfa"),
            ("DELETE", "/sessions"),
        ] {
            let reply = admin.call(method, &format!("{path}{below}")).await;
            reply.expect_error(404, "not_found");
        }
        let changed = admin.patch(&path).json(&json!({ "role": "user" })).await;
        changed.expect_error(404, "not_found");
        let set = admin.call("PUT", &format!("{path}/password")).await;
        set.expect_error(404, "not_found");
    }
}

on_every_shape!(
    a_new_role_takes_effect_immediately,
    a_disabled_user_has_no_access,
    a_set_password_ends_all_access_and_notifies_the_user,
    unlocking_ends_a_lockout,
    resetting_two_step_sign_in_leaves_the_password,
    the_user_learns_of_changes_without_the_address_of_the_administrator,
    unknown_users_are_not_found,
);
