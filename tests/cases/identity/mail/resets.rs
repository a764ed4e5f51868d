//! Password resets by mailed links.

use super::{
    CONFIRM, NEW_PASSWORD, RESET, UserWithSessions, WAS_RESET, change_token, disable, events, me,
    request_reset, reset, reset_token,
};
use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, SharedWorld, World, on_every_shape, on_many_processes};

async fn a_reset_sets_the_password_and_ends_all_access(world: SharedWorld) {
    let ann = UserWithSessions::new(&world).await;
    let email = &ann.here.email;
    let bystander = world.sign_up().await;
    let asked = request_reset(&world.anyone(), email).await.expect(202);
    assert!(asked.body.is_empty(), "{asked}");
    let token = world.mail(email, RESET, 1).await.token();
    ann.here.get("/me").await.expect(200);
    let done = reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    assert!(
        done.set_cookie("sid").is_none(),
        "a reset does not sign in: {done}"
    );
    ann.expect_ended(&world).await;
    bystander.get("/me").await.expect(200);
    world.anyone().login(email, PASSWORD).await.expect(401);
    let again = world.log_in(email, NEW_PASSWORD).await;
    assert_eq!(me(&again).await["email_verified"], true);
    let notice = world.mail(email, WAS_RESET, 1).await;
    let address = world.anyone().address().to_string();
    assert!(
        notice.text.contains(&address) && !notice.text.contains(&token),
        "{notice:?}"
    );
    let of_ann = |name: &str| (name.to_owned(), "success".to_owned(), Some(again.id));
    assert_eq!(
        events(&world, &asked).await,
        [of_ann("authn_password_reset_request")]
    );
    let recorded = events(&world, &done).await;
    assert_eq!(
        recorded,
        [of_ann("authn_token_revoked"), of_ann("authn_password_reset")]
    );
}

async fn a_reset_refuses_a_password_like_the_address(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let similar = format!("{}1!", ann.email.to_uppercase());
    let refused = reset(&world.anyone(), &token, &similar).await;
    refused.expect_validation_errors(&["/new_password"]);
    let mut browser = world.browser();
    let form = browser.open(&format!("/reset?token={token}")).await;
    let refused = browser.submit(&form, &[("new_password", &similar)]).await;
    assert_eq!(refused.reply.status, 422, "{}", refused.reply);
    assert!(
        refused.visible_text().contains("Too like your e-mail address"),
        "{}",
        refused.reply
    );
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
}

async fn requests_do_not_reveal_accounts(world: World) {
    let (ann, gone) = (world.sign_up().await, world.sign_up().await);
    disable(&world, &gone);
    let unknown = world.fresh_email();
    let known = request_reset(&world.anyone(), &ann.email).await.expect(202);
    for email in [&unknown, &gone.email] {
        let reply = request_reset(&world.anyone(), email).await;
        assert_eq!(reply.comparable_parts(), known.comparable_parts());
        let recorded = [(
            "authn_password_reset_request".to_owned(),
            "failure".to_owned(),
            None,
        )];
        assert_eq!(events(&world, &reply).await, recorded);
    }
    world.mail(&ann.email, RESET, 1).await;
    world.wait_until_mailed().await;
    assert!(world.mails(&unknown).is_empty());
    let to_gone = world.mails(&gone.email);
    assert!(
        to_gone.iter().all(|mail| mail.header("subject") == CONFIRM),
        "{to_gone:?}"
    );
}

async fn malformed_emails_and_tokens_are_rejected(world: SharedWorld) {
    let anyone = world.anyone();
    for email in ["", "ann", "a\u{0}@example.org"] {
        request_reset(&anyone, email).await.expect(422);
    }
    let body = json!({ "email": "ann@example.org", "host": "evil.example" });
    anyone
        .post("/password-resets")
        .json(&body)
        .await
        .expect_validation_errors(&["/host"]);
    reset(&anyone, "", NEW_PASSWORD)
        .await
        .expect_validation_errors(&["/token"]);
    reset(&anyone, &"malformed".repeat(15), "short")
        .await
        .expect_validation_errors(&["/new_password", "/token"]);
    for token in ["x", &foundation::secret::encode(&[7; 32])] {
        let refused = reset(&anyone, token, NEW_PASSWORD).await;
        refused.expect_error(422, "reset_token_invalid");
    }
}

async fn links_work_once(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    let again = reset(&world.anyone(), &token, "yet another password").await;
    again.expect_error(422, "reset_token_invalid");
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn newer_links_replace_older_ones(world: SharedWorld) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let first = reset_token(&world, &ann.email, 1).await;
    let of_bob = reset_token(&world, &bob.email, 1).await;
    let second = reset_token(&world, &ann.email, 2).await;
    let refused = reset(&world.anyone(), &first, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    reset(&world.anyone(), &second, NEW_PASSWORD).await.expect(204);
    reset(&world.anyone(), &of_bob, NEW_PASSWORD).await.expect(204);
}

async fn links_expire(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    world.advance(Duration::from_secs(30 * 60 + 1));
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    let token = reset_token(&world, &ann.email, 2).await;
    world.advance(Duration::from_secs(30 * 60 - 1));
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
}

async fn a_rejected_password_does_not_use_up_the_link(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    for weak in ["short", &"x".repeat(129)] {
        reset(&world.anyone(), &token, weak)
            .await
            .expect_validation_errors(&["/new_password"]);
    }
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
}

async fn changing_the_password_invalidates_the_link(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let body = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    ann.call("PUT", "/me/password").json(&body).await.expect(204);
    let refused = reset(&world.anyone(), &token, "yet another password").await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn disabling_the_user_invalidates_the_link_for_good(world: SharedWorld) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    disable(&world, &ann);
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    world.cli(&["users", "enable", "--email", &ann.email, "--json"], "");
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn a_reset_invalidates_a_pending_address_change(world: SharedWorld) {
    let ann = world.sign_up().await;
    let of_the_thief = change_token(&world, &ann, &world.fresh_email(), 1).await;
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    let refused = world
        .anyone()
        .confirm_email_with(&of_the_thief, NEW_PASSWORD)
        .await;
    refused.expect_error(422, "reset_token_invalid");
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn reset_and_verification_links_are_not_interchangeable(world: SharedWorld) {
    let ann = world.sign_up().await;
    let of_reset = reset_token(&world, &ann.email, 1).await;
    let of_address = world.mail(&ann.email, CONFIRM, 1).await.token();
    let refused = reset(&world.anyone(), &of_address, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    let refused = ann.confirm_email(&of_reset).await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn links_ignore_the_host_of_the_request(world: SharedWorld) {
    let ann = world.sign_up().await;
    let caller = world
        .anyone()
        .with("host", "evil.example")
        .with("x-forwarded-host", "evil.example")
        .with("forwarded", "host=evil.example");
    request_reset(&caller, &ann.email).await.expect(202);
    let mail = world.mail(&ann.email, RESET, 1).await;
    assert_eq!(mail.link().origin().ascii_serialization(), world.base());
    assert!(!mail.text.contains("evil"), "{mail:?}");
}

async fn a_reset_lifts_a_lockout(world: SharedWorld) {
    let ann = world.sign_up().await;
    for _ in 0..5 {
        world
            .anyone()
            .login(&ann.email, "not the password")
            .await
            .expect(401);
    }
    let locked = world.anyone().login(&ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn a_reset_replaces_an_initial_password(world: SharedWorld) {
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = made["initial_password"].as_str().unwrap();
    world.register_secret(initial);
    let user = world.log_in(&email, initial).await;
    user.get("/posts")
        .await
        .expect_error(403, "password_change_required");
    let token = reset_token(&world, &email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    world
        .log_in(&email, NEW_PASSWORD)
        .await
        .get("/posts")
        .await
        .expect(200);
}

async fn mfa_stays_on_after_a_reset(world: SharedWorld) {
    let ann = world.sign_up_confirmed().await;
    let app = Authenticator::enable(&world, &ann).await;
    request_reset(&world.anyone(), &ann.email).await.expect(202);
    let token = world.mail(&ann.email, RESET, 1).await.token();
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    world
        .anyone()
        .login(&ann.email, NEW_PASSWORD)
        .await
        .expect_error(403, "mfa_required");
    let body = json!({ "email": ann.email, "password": NEW_PASSWORD, "otp": app.recovery_codes[0] });
    world.anyone().post("/login").json(&body).await.expect(200);
}

async fn tokens_are_neither_stored_nor_logged(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let of_address = change_token(&world, &ann, &world.fresh_email(), 1).await;
    world
        .anyone()
        .get(&format!("/reset?token={token}"))
        .await
        .expect(200);
    world
        .anyone()
        .get(&format!("/verify?token={of_address}"))
        .await
        .expect(200);
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    world.expect_no_secrets_in(&world.dump(), "the database");
    world.expect_no_secrets_in(&world.log(), "the log");
}

async fn requests_fail_without_redis(world: World) {
    let ann = world.sign_up().await;
    world.redis().kill();
    for email in [ann.email.clone(), world.fresh_email()] {
        let refused = request_reset(&world.anyone(), &email).may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
}

on_every_shape!(
    a_reset_sets_the_password_and_ends_all_access,
    a_reset_refuses_a_password_like_the_address,
    requests_do_not_reveal_accounts,
    malformed_emails_and_tokens_are_rejected,
    links_work_once,
    newer_links_replace_older_ones,
    links_expire,
    a_rejected_password_does_not_use_up_the_link,
    changing_the_password_invalidates_the_link,
    disabling_the_user_invalidates_the_link_for_good,
    a_reset_invalidates_a_pending_address_change,
    reset_and_verification_links_are_not_interchangeable,
    links_ignore_the_host_of_the_request,
    a_reset_lifts_a_lockout,
    a_reset_replaces_an_initial_password,
    mfa_stays_on_after_a_reset,
    tokens_are_neither_stored_nor_logged,
);

on_many_processes!(requests_fail_without_redis);
