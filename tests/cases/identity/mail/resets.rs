//! A forgotten password is replaced by the link in a mail.

use super::{
    CONFIRM, NEW_PASSWORD, RESET, Somebody, WAS_RESET, ask_reset, change_token, confirm, disable, events,
    log_in, me, reset, reset_token,
};
use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, World, on_every_shape, on_many_processes};

async fn the_link_sets_a_password_and_ends_everything(world: World) {
    let ann = Somebody::new(&world).await;
    let email = &ann.here.email;
    let bystander = world.sign_up().await;
    let asked = ask_reset(&world.anyone(), email).await.expect(202);
    assert!(asked.body.is_empty(), "{asked}");
    let token = world.letter(email, RESET, 1).await.token();
    ann.here.get("/me").await.expect(200);
    let done = reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    assert!(done.set_cookie("sid").is_none(), "a reset is no sign-in: {done}");
    ann.expect_ended(&world).await;
    bystander.get("/me").await.expect(200);
    log_in(&world.anyone(), email, PASSWORD).await.expect(401);
    let again = world.log_in(email, NEW_PASSWORD).await;
    assert_eq!(me(&again).await["email_verified"], true);
    let notice = world.letter(email, WAS_RESET, 1).await;
    assert!(
        notice.text.contains("127.0.0.1") && !notice.text.contains(&token),
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

async fn nobody_is_told_who_has_an_account(world: World) {
    let (ann, gone) = (world.sign_up().await, world.sign_up().await);
    disable(&world, &gone);
    let unknown = world.fresh_email();
    let known = ask_reset(&world.anyone(), &ann.email).await.expect(202);
    for email in [&unknown, &gone.email] {
        let reply = ask_reset(&world.anyone(), email).await;
        assert_eq!(reply.anonymised(), known.anonymised());
        let recorded = [(
            "authn_password_reset_request".to_owned(),
            "failure".to_owned(),
            None,
        )];
        assert_eq!(events(&world, &reply).await, recorded);
    }
    world.letter(&ann.email, RESET, 1).await;
    world.until_mailed().await;
    assert!(world.letters(&unknown).is_empty());
    let to_gone = world.letters(&gone.email);
    assert!(
        to_gone.iter().all(|letter| letter.header("subject") == CONFIRM),
        "{to_gone:?}"
    );
}

async fn what_is_no_address_or_no_token_is_refused(world: World) {
    let anyone = world.anyone();
    for email in ["", "ann", "a\u{0}@example.org"] {
        ask_reset(&anyone, email).await.expect(422);
    }
    let body = json!({ "email": "ann@example.org", "host": "evil.example" });
    anyone
        .post("/password-resets")
        .json(&body)
        .await
        .expect_faults(&["/host"]);
    reset(&anyone, "", NEW_PASSWORD).await.expect_faults(&["/token"]);
    reset(&anyone, &"x".repeat(129), "short")
        .await
        .expect_faults(&["/new_password", "/token"]);
    for token in ["x", &shared::secret::encode(&[7; 32])] {
        let refused = reset(&anyone, token, NEW_PASSWORD).await;
        refused.expect_error(422, "reset_token_invalid");
    }
}

async fn a_link_works_once(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    let again = reset(&world.anyone(), &token, "yet another password").await;
    again.expect_error(422, "reset_token_invalid");
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn a_newer_link_replaces_the_older(world: World) {
    let (ann, bob) = (world.sign_up().await, world.sign_up().await);
    let first = reset_token(&world, &ann.email, 1).await;
    let of_bob = reset_token(&world, &bob.email, 1).await;
    let second = reset_token(&world, &ann.email, 2).await;
    let refused = reset(&world.anyone(), &first, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    reset(&world.anyone(), &second, NEW_PASSWORD).await.expect(204);
    reset(&world.anyone(), &of_bob, NEW_PASSWORD).await.expect(204);
}

async fn a_link_grows_too_old(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    world.advance(Duration::from_secs(30 * 60 + 1));
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    let token = reset_token(&world, &ann.email, 2).await;
    world.advance(Duration::from_secs(30 * 60 - 1));
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
}

async fn a_password_that_is_refused_uses_nothing_up(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    for weak in ["short", &"x".repeat(129)] {
        reset(&world.anyone(), &token, weak)
            .await
            .expect_faults(&["/new_password"]);
    }
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
}

async fn a_change_of_password_voids_the_link(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    let body = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    ann.call("PUT", "/me/password").json(&body).await.expect(204);
    let refused = reset(&world.anyone(), &token, "yet another password").await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn disabling_voids_the_link_for_good(world: World) {
    let ann = world.sign_up().await;
    let token = reset_token(&world, &ann.email, 1).await;
    disable(&world, &ann);
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    world.cli(&["users", "enable", "--email", &ann.email, "--json"], "");
    let refused = reset(&world.anyone(), &token, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn a_reset_voids_a_change_of_address_that_another_asked_for(world: World) {
    let ann = world.sign_up().await;
    let of_the_thief = change_token(&world, &ann, &world.fresh_email(), 1).await;
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    let refused = confirm(&world.anyone(), &of_the_thief).await;
    refused.expect_error(422, "reset_token_invalid");
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn one_kind_of_link_is_not_the_other(world: World) {
    let ann = world.sign_up().await;
    let of_reset = reset_token(&world, &ann.email, 1).await;
    let of_address = world.letter(&ann.email, CONFIRM, 1).await.token();
    let refused = reset(&world.anyone(), &of_address, NEW_PASSWORD).await;
    refused.expect_error(422, "reset_token_invalid");
    let refused = confirm(&world.anyone(), &of_reset).await;
    refused.expect_error(422, "reset_token_invalid");
}

async fn the_link_leads_where_the_settings_say(world: World) {
    let ann = world.sign_up().await;
    let caller = world
        .anyone()
        .with("host", "evil.example")
        .with("x-forwarded-host", "evil.example")
        .with("forwarded", "host=evil.example");
    ask_reset(&caller, &ann.email).await.expect(202);
    let letter = world.letter(&ann.email, RESET, 1).await;
    assert_eq!(letter.link().origin().ascii_serialization(), world.base());
    assert!(!letter.text.contains("evil"), "{letter:?}");
}

async fn a_reset_lets_its_owner_in_through_a_lock(world: World) {
    let ann = world.sign_up().await;
    for _ in 0..5 {
        log_in(&world.anyone(), &ann.email, "not the password")
            .await
            .expect(401);
    }
    let locked = log_in(&world.anyone(), &ann.email, PASSWORD).await;
    locked.expect_error(429, "login_locked");
    let token = reset_token(&world, &ann.email, 1).await;
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    world.log_in(&ann.email, NEW_PASSWORD).await;
}

async fn a_reset_is_a_choice_of_ones_own_password(world: World) {
    let email = world.fresh_email();
    let made = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let one_time = made["one_time_password"].as_str().unwrap();
    world.keep_secret(one_time);
    let person = world.log_in(&email, one_time).await;
    person
        .get("/posts")
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

async fn a_second_step_stays_after_a_reset(world: World) {
    let ann = world.sign_up().await;
    let app = Authenticator::turn_on(&world, &ann).await;
    ask_reset(&world.anyone(), &ann.email).await.expect(202);
    let token = world.letter(&ann.email, RESET, 1).await.token();
    reset(&world.anyone(), &token, NEW_PASSWORD).await.expect(204);
    log_in(&world.anyone(), &ann.email, NEW_PASSWORD)
        .await
        .expect_error(403, "mfa_required");
    let body = json!({ "email": ann.email, "password": NEW_PASSWORD, "otp": app.recovery_codes[0] });
    world.anyone().post("/login").json(&body).await.expect(200);
}

async fn no_token_is_stored_or_logged(world: World) {
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

async fn without_redis_nothing_is_asked_for(world: World) {
    let ann = world.sign_up().await;
    world.redis().kill();
    for email in [ann.email.clone(), world.fresh_email()] {
        let refused = ask_reset(&world.anyone(), &email).may_fail().await;
        refused.expect_error(503, "dependency_unavailable");
    }
}

on_every_shape!(
    the_link_sets_a_password_and_ends_everything,
    nobody_is_told_who_has_an_account,
    what_is_no_address_or_no_token_is_refused,
    a_link_works_once,
    a_newer_link_replaces_the_older,
    a_link_grows_too_old,
    a_password_that_is_refused_uses_nothing_up,
    a_change_of_password_voids_the_link,
    disabling_voids_the_link_for_good,
    a_reset_voids_a_change_of_address_that_another_asked_for,
    one_kind_of_link_is_not_the_other,
    the_link_leads_where_the_settings_say,
    a_reset_lets_its_owner_in_through_a_lock,
    a_reset_is_a_choice_of_ones_own_password,
    a_second_step_stays_after_a_reset,
    no_token_is_stored_or_logged,
);

on_many_processes!(without_redis_nothing_is_asked_for);
