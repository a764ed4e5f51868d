//! Guessing one-time codes, with and without the password.

use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, PASSWORD, Shape, World, on_every_shape};

/// Wrong codes and wrong passwords lock out after five failures in total, so that knowledge of one factor
/// gives no further guesses at the other.
async fn wrong_codes_and_wrong_passwords_share_one_counter(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.sign_up().await;
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
    let ann = world.sign_up().await;
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

on_every_shape!(
    wrong_codes_and_wrong_passwords_share_one_counter,
    guesses_within_a_session_are_limited
);
