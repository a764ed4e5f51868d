//! Guessing one-time codes, with and without the password.

use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, World, eventually, on_every_shape};

/// Wrong codes and wrong passwords lock out after five failures in total, so that knowledge of one factor
/// gives no further guesses at the other.
async fn wrong_codes_and_wrong_passwords_share_one_counter(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let log_in = |password: &str, otp: Option<&str>| {
        let mut body = json!({ "email": ann.email, "password": password });
        if let Some(otp) = otp {
            body["otp"] = json!(otp);
        }
        world.anyone().post("/login").json(&body)
    };
    // The code of a time step an hour ahead.
    let wrong = app.code(&world, 120);
    for _ in 0..2 {
        log_in(PASSWORD, Some(&wrong))
            .await
            .expect_error(403, "mfa_required");
        log_in("not the password", None).await.expect(401);
        // The right password without a code neither counts as a failure nor clears the counter.
        log_in(PASSWORD, None).await.expect_error(403, "mfa_required");
    }
    log_in(PASSWORD, Some(&wrong))
        .await
        .expect_error(403, "mfa_required");
    for otp in [None, Some(wrong.as_str()), Some(app.next_code(&world).as_str())] {
        log_in(PASSWORD, otp).await.expect_error(429, "login_locked");
    }
    world.advance(Duration::from_secs(15 * 60 + 1));
    world.log_in_with(&app.sign_in(&world, &ann)).await;
    for _ in 0..4 {
        log_in(PASSWORD, Some(&wrong))
            .await
            .expect_error(403, "mfa_required");
    }
    // Success with both factors clears the counter.
    world.log_in_with(&app.sign_in(&world, &ann)).await;
    log_in(PASSWORD, Some(&wrong))
        .await
        .expect_error(403, "mfa_required");
}

/// Guesses by someone who found an open session.
async fn guesses_within_a_session_are_limited(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    let ann = world.log_in_with(&app.sign_in(&world, &ann)).await;
    let off = |otp: Option<&str>| {
        let mut body = json!({ "password": PASSWORD });
        if let Some(otp) = otp {
            body["otp"] = json!(otp);
        }
        ann.delete("/me/mfa/totp").json(&body)
    };
    off(None).await.expect_error(403, "mfa_required");
    // The code of a time step an hour ahead.
    let wrong = app.code(&world, 120);
    for _ in 0..4 {
        off(Some(&wrong)).await.expect_error(403, "mfa_required");
    }
    // Operations that check only the password do not clear the counter.
    let again = json!({ "password": PASSWORD });
    ann.post("/me/mfa/totp")
        .json(&again)
        .await
        .expect_error(403, "forbidden");
    off(Some(&wrong)).await.expect_error(403, "mfa_required");
    let right = app.next_code(&world);
    off(Some(&right)).await.expect_error(429, "login_locked");
    ann.delete("/me")
        .json(&json!({ "password": PASSWORD, "otp": right }))
        .await
        .expect_error(429, "login_locked");
    ann.get("/me").await.expect(200);
}

/// Somebody who knows the password has many addresses.
async fn ten_wrong_codes_a_day_lock_the_codes_of_an_account(shape: Shape) {
    let builder = World::builder(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1");
    let world = builder.start().await;
    let ann = world.sign_up_confirmed().await;
    let app = Authenticator::enable(&world, &ann).await;
    let wrong = app.code(&world, 120);
    let log_in = |n: usize, password: &str, otp: &str| {
        let body = json!({ "email": ann.email, "password": password, "otp": otp });
        let caller = world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"));
        caller.post("/login").json(&body)
    };
    for n in 0..10 {
        log_in(n, PASSWORD, &wrong)
            .await
            .expect_error(403, "mfa_required");
    }
    let locked = log_in(10, PASSWORD, &app.next_code(&world)).await;
    let locked = locked.expect_error(429, "login_locked");
    assert_eq!(locked.header("retry-after"), "86400");
    let recovery = log_in(11, PASSWORD, &app.recovery_codes[0]).await;
    recovery.expect_error(429, "login_locked");
    log_in(12, "not the password", &wrong).await.expect(401);
    let notice = world
        .mail(&ann.email, "Someone is trying your one-time codes", 1)
        .await;
    assert!(notice.text.contains("198.51.100.9"), "{notice:?}");
    eventually("no alert was raised", || async {
        let log = world.log();
        let mut alerts = log.lines().filter(|line| line.contains("\"code_guesses\""));
        alerts
            .next()
            .is_some_and(|line| line.contains(&format!("\"user_id\":{}", ann.id)))
    })
    .await;
    // The owner takes the password away from whoever knows it.
    let ask = world.anyone().post("/password-resets");
    ask.json(&json!({ "email": ann.email })).await.expect(202);
    let token = world.mail(&ann.email, "Reset your password", 1).await.token();
    let body = json!({ "token": token, "new_password": "a new good password" });
    let confirm = world.anyone().post("/password-resets/confirmations");
    confirm.json(&body).await.expect(204);
    let code = app.next_code(&world);
    log_in(13, "a new good password", &code).await.expect(200);
}

async fn a_lock_of_codes_ends_after_a_day(shape: Shape) {
    let builder = World::builder(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1");
    let world = builder.start().await;
    let ann = world.user().await;
    let app = Authenticator::enable(&world, &ann).await;
    for n in 0..10 {
        let body = json!({ "email": ann.email, "password": PASSWORD, "otp": app.code(&world, 120) });
        let caller = world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"));
        caller
            .post("/login")
            .json(&body)
            .await
            .expect_error(403, "mfa_required");
    }
    world.advance(Duration::from_secs(24 * 3600));
    world.log_in_with(&app.sign_in(&world, &ann)).await;
}

on_every_shape!(
    ten_wrong_codes_a_day_lock_the_codes_of_an_account,
    a_lock_of_codes_ends_after_a_day,
    wrong_codes_and_wrong_passwords_share_one_counter,
    guesses_within_a_session_are_limited
);
