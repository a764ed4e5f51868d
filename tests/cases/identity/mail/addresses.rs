//! E-mail addresses are confirmed and changed by links sent to them.

use super::{
    CHANGE_REQUESTED, CONFIRM, CONFIRM_NEW, UserWithSessions, WAS_CHANGED, change_token, events, me,
    request_change, reset, reset_token,
};
use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, SharedWorld, User, World, on_every_shape};

/// Requests another link to the current address.
async fn request_link_again(user: &User) {
    user.post("/email-verifications")
        .json(&json!({}))
        .await
        .expect(202);
}

async fn new_accounts_confirm_their_email(world: SharedWorld) {
    let ann = world.sign_up().await;
    assert_eq!(me(&ann).await["email_verified"], false);
    let token = world.mail(&ann.email, CONFIRM, 1).await.token();
    let done = ann.confirm_email(&token).await.expect(204);
    let user = me(&ann).await;
    assert_eq!(
        (&user["email_verified"], &user["email"]),
        (&json!(true), &json!(ann.email))
    );
    let recorded = [(
        "authn_email_verified".to_owned(),
        "success".to_owned(),
        Some(ann.id),
    )];
    assert_eq!(events(&world, &done).await, recorded);
    let again = ann.confirm_email(&token).await;
    again.expect_error(422, "reset_token_invalid");
}

async fn newer_links_replace_older_ones(world: SharedWorld) {
    let ann = world.sign_up().await;
    let first = world.mail(&ann.email, CONFIRM, 1).await.token();
    request_link_again(&ann).await;
    let second = world.mail(&ann.email, CONFIRM, 2).await.token();
    let refused = ann.confirm_email(&first).await;
    refused.expect_error(422, "reset_token_invalid");
    ann.confirm_email(&second).await.expect(204);
}

async fn links_expire(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let token = world.mail(&ann.email, CONFIRM, 1).await.token();
    world.advance(Duration::from_secs(24 * 3600 + 1));
    let refused = world.anyone().confirm_email_with(&token, PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn a_change_is_confirmed_from_the_new_address_and_announced_to_the_old(world: SharedWorld) {
    let ann = UserWithSessions::new(&world).await;
    let (old, new) = (&ann.here.email, world.fresh_email().to_uppercase());
    world.confirm_email(old).await;
    let asked = request_change(&ann.here, &new, PASSWORD).await.expect(202);
    assert!(asked.body.is_empty(), "{asked}");
    let warning = world.mail(old, CHANGE_REQUESTED, 1).await;
    assert!(warning.text.contains(&new), "{warning:?}");
    let token = world.mail(&new, CONFIRM_NEW, 1).await.token();
    // Nothing changes before the confirmation.
    let user = me(&ann.here).await;
    assert_eq!(
        (&user["email"], &user["email_verified"]),
        (&json!(old), &json!(true))
    );
    world.log_in(old, PASSWORD).await;
    let done = ann.elsewhere.confirm_email(&token).await.expect(204);
    ann.expect_ended(&world).await;
    world.anyone().login(old, PASSWORD).await.expect(401);
    let again = world.log_in(&new, PASSWORD).await;
    let user = me(&again).await;
    assert_eq!((&user["id"], &user["email"]), (&json!(ann.here.id), &json!(new)));
    assert_eq!(user["email_verified"], true);
    let notice = world.mail(old, WAS_CHANGED, 1).await;
    assert!(notice.text.contains(&new), "{notice:?}");
    let of_ann = |name: &str| (name.to_owned(), "success".to_owned(), Some(again.id));
    let names: Vec<_> = events(&world, &asked).await;
    assert_eq!(names, [of_ann("authn_email_change_request")]);
    let names = events(&world, &done).await;
    assert_eq!(
        names,
        [of_ann("authn_token_revoked"), of_ann("authn_email_change")]
    );
    let id = again.id.to_string();
    let listed = world.cli(
        &[
            "events",
            "list",
            "--name=authn_email_change",
            "--user",
            &id,
            "--json",
        ],
        "",
    );
    assert_eq!(listed[0]["detail"], format!("{old} to {new}"), "{listed}");
    // The old address is available again.
    let body = json!({ "email": old, "password": PASSWORD });
    world.anyone().post("/users").json(&body).await.expect(201);
}

async fn a_change_requires_the_password_and_counts_failures(world: SharedWorld) {
    let ann = world.sign_up().await;
    let new = world.fresh_email();
    let body = json!({ "email": new });
    let reply = ann.post("/email-verifications").json(&body).await;
    reply.expect_validation_errors(&["/current_password"]);
    let reply = ann
        .post("/email-verifications")
        .json(&json!({ "email": "ann" }))
        .await;
    reply.expect_validation_errors(&["/current_password", "/email"]);
    let reply = ann
        .post("/email-verifications")
        .json(&json!({ "email": null }))
        .await;
    reply.expect(422);
    for _ in 0..5 {
        let reply = request_change(&ann, &new, "not the password").await;
        reply.expect_validation_errors(&["/current_password"]);
    }
    request_change(&ann, &new, PASSWORD)
        .await
        .expect_error(429, "login_locked");
    let locked = world.anyone().login(&ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    world.wait_until_mailed().await;
    assert!(world.mails(&new).is_empty());
}

async fn a_change_requires_a_one_time_code_if_mfa_is_on(world: SharedWorld) {
    let ann = world.sign_up().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    let to = world.fresh_email();
    request_change(&ann, &to, PASSWORD)
        .await
        .expect_error(403, "mfa_required");
    let body = json!({ "email": to, "current_password": PASSWORD, "otp": app.recovery_codes[0] });
    ann.post("/email-verifications").json(&body).await.expect(202);
    let token = world.mail(&to, CONFIRM_NEW, 1).await.token();
    ann.confirm_email(&token).await.expect(204);
}

async fn only_the_mailbox_owner_learns_that_an_address_is_taken(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let free = request_change(&ann, &world.fresh_email(), PASSWORD)
        .await
        .expect(202);
    let taken = request_change(&ann, &bob.email, PASSWORD).await;
    assert_eq!(taken.comparable_parts(), free.comparable_parts());
    let token = world.mail(&bob.email, CONFIRM_NEW, 1).await.token();
    for _ in 0..2 {
        ann.confirm_email(&token).await.expect_error(409, "email_taken");
    }
    assert_eq!(me(&ann).await["email"], json!(ann.email));
    world.log_in(&bob.email, PASSWORD).await;
}

async fn two_accounts_cannot_take_the_same_address(world: SharedWorld) {
    let (ann, bob, new) = (world.sign_up().await, world.sign_up().await, world.fresh_email());
    let of_ann = change_token(&world, &ann, &new, 1).await;
    let of_bob = change_token(&world, &bob, &new, 2).await;
    bob.confirm_email(&of_bob).await.expect(204);
    ann.confirm_email(&of_ann).await.expect_error(409, "email_taken");
    assert_eq!(world.log_in(&new, PASSWORD).await.id, bob.id);
}

async fn links_to_the_old_address_become_invalid(world: SharedWorld) {
    let ann = world.sign_up().await;
    let of_reset = reset_token(&world, &ann.email, 1).await;
    let token = change_token(&world, &ann, &world.fresh_email(), 1).await;
    ann.confirm_email(&token).await.expect(204);
    let refused = reset(&world.anyone(), &of_reset, "a new good password").await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn changes_require_a_session(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "profile:read").await;
    let bearer = world.anyone().bearer(&tokens.access);
    let reply = bearer.post("/email-verifications").json(&json!({})).await;
    reply.expect_error(403, "forbidden");
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = made["initial_password"].as_str().unwrap();
    world.register_secret(initial);
    let user = world.log_in(&email, initial).await;
    let reply = request_change(&user, &world.fresh_email(), initial).await;
    reply.expect_error(403, "password_change_required");
}

async fn the_spelling_of_an_address_can_change(world: SharedWorld) {
    let ann = world.sign_up().await;
    let shouting = ann.email.to_uppercase();
    let token = change_token(&world, &ann, &shouting, 1).await;
    ann.confirm_email(&token).await.expect(204);
    assert_eq!(me(&ann).await["email"], json!(shouting));
}

on_every_shape!(
    a_change_requires_a_one_time_code_if_mfa_is_on,
    new_accounts_confirm_their_email,
    newer_links_replace_older_ones,
    links_expire,
    a_change_is_confirmed_from_the_new_address_and_announced_to_the_old,
    a_change_requires_the_password_and_counts_failures,
    only_the_mailbox_owner_learns_that_an_address_is_taken,
    two_accounts_cannot_take_the_same_address,
    links_to_the_old_address_become_invalid,
    changes_require_a_session,
    the_spelling_of_an_address_can_change,
);
