//! Each cause of the end of a session.

use super::super::{id_token, sign_in, verify};
use super::{app, received};
use serde_json::json;
use tests::{App, Authenticator, SharedWorld, StubServer, User, World, claims, eventually, on_every_shape};

/// Causes of the end of a session of a user who signs in by the password alone.
const CAUSES: [&str; 15] = [
    "logout",
    "end session",
    "sign in as another user",
    "sign out",
    "password",
    "password reset",
    "second factor",
    "address",
    "deletion",
    "role",
    "disable",
    "password by a command",
    "password by an administrator",
    "end by an administrator",
    "sign-out by an administrator",
];

/// Causes of the end of a session of a user with two-step sign-in.
const CAUSES_WITH_TWO_STEPS: [&str; 3] = ["turned off", "reset by a command", "reset by an administrator"];

/// Each of these causes of the end of a session sends one logout token to the client.
async fn every_end_of_a_session_is_told(world: SharedWorld) {
    let server = StubServer::start().await;
    let app = app(&world, &server);
    for cause in CAUSES {
        let user = world.user().await;
        let hint = id_token(&sign_in(&app, &mut user.browser(), &user, "openid").await);
        end_session(&world, cause, &user, &hint).await;
        expect_told(&world, &server, &app, &user, cause).await;
    }
    for cause in CAUSES_WITH_TWO_STEPS {
        let user = world.user().await;
        let authenticator = Authenticator::enable(&world, &user).await;
        let user = world.log_in_with(&authenticator.sign_in(&world, &user)).await;
        sign_in(&app, &mut user.browser(), &user, "openid").await;
        end_two_step_sign_in(&world, cause, &user, &authenticator).await;
        expect_told(&world, &server, &app, &user, cause).await;
    }
    assert_eq!(
        received(&server).len(),
        CAUSES.len() + CAUSES_WITH_TWO_STEPS.len()
    );
}

/// Expects that the client gets one token about this user.
async fn expect_told(world: &World, server: &StubServer, app: &App, user: &User, cause: &str) {
    let of_user = || {
        let tokens = received(server).into_iter();
        let subject = json!(user.id.to_string());
        tokens.filter(move |token| claims(token)["sub"] == subject)
    };
    eventually(&format!("{cause}: the client was not told"), async || {
        of_user().next().is_some()
    })
    .await;
    let tokens: Vec<String> = of_user().collect();
    assert_eq!(tokens.len(), 1, "{cause}");
    verify(world, &tokens[0], "logout+jwt", &app.id).await;
}

async fn end_two_step_sign_in(world: &World, cause: &str, user: &User, authenticator: &Authenticator) {
    match cause {
        "turned off" => {
            let body = json!({ "password": user.password, "otp": authenticator.recovery_codes[0] });
            user.delete("/me/mfa/totp").json(&body).await.expect(204);
        }
        "reset by a command" => {
            world.cli(&["users", "reset-mfa", "--json", "--email", &user.email], "");
        }
        "reset by an administrator" => administer(world, &format!("/admin/users/{}/mfa", user.id)).await,
        _ => panic!("{cause}"),
    }
}

async fn end_session(world: &World, cause: &str, user: &User, hint: &str) {
    let mut browser = user.browser();
    let session = claims(hint)["sid"].as_str().unwrap().to_owned();
    let new_password = "another long passphrase 1";
    match cause {
        "logout" => drop(user.post("/logout").await.expect(204)),
        "end session" => drop(user.delete(&format!("/me/sessions/{session}")).await.expect(204)),
        "sign in as another user" => {
            let page = browser.open("/signin").await;
            assert_eq!(page.location().unwrap().path(), "/account", "{}", page.reply);
            let other = world.user().await;
            user.login(&other.email, &other.password).await.expect(200);
        }
        "password" => {
            let body = json!({ "current_password": user.password, "new_password": new_password });
            user.call("PUT", "/me/password").json(&body).await.expect(204);
        }
        "password reset" => {
            let body = json!({ "email": user.email });
            user.post("/password-resets").json(&body).await.expect(202);
            let token = world.mail(&user.email, "Reset your password", 1).await.token();
            let body = json!({ "token": token, "new_password": new_password });
            let reset = user.anonymous().post("/password-resets/confirmations");
            reset.json(&body).await.expect(204);
        }
        "second factor" => drop(Authenticator::enable(world, user).await),
        "address" => {
            let to = world.fresh_email();
            let body = json!({ "email": to, "current_password": user.password });
            user.post("/email-verifications").json(&body).await.expect(202);
            let token = world
                .mail(&to, "Confirm your new e-mail address", 1)
                .await
                .token();
            user.confirm_email(&token).await.expect(204);
        }
        "deletion" => {
            let body = json!({ "password": user.password });
            user.delete("/me").json(&body).await.expect(204);
        }
        "role" => {
            let args = [
                "users",
                "set-role",
                "--json",
                "--role",
                "editor",
                "--email",
                &user.email,
            ];
            world.cli(&args, "");
        }
        "password by a command" => {
            let args = [
                "users",
                "set-password",
                "--json",
                "--password-stdin",
                "--email",
                &user.email,
            ];
            world.cli(&args, new_password);
        }
        "password by an administrator" => {
            let admin = world.user_with_role("admin").await;
            let path = format!("/admin/users/{}/password", user.id);
            let body = json!({ "password": new_password });
            admin.call("PUT", &path).json(&body).await.expect(200);
        }
        "disable" => drop(world.cli(&["users", "disable", "--json", "--email", &user.email], "")),
        "sign out" => {
            browser.open(&format!("/signout?id_token_hint={hint}")).await;
        }
        "end by an administrator" => administer(world, &format!("/admin/sessions/{session}")).await,
        "sign-out by an administrator" => {
            administer(world, &format!("/admin/users/{}/sessions", user.id)).await;
        }
        _ => panic!("{cause}"),
    }
}

/// Sends a DELETE request as an administrator.
async fn administer(world: &World, path: &str) {
    let admin = world.user_with_role("admin").await;
    admin.delete(path).await.expect(204);
}

on_every_shape!(every_end_of_a_session_is_told);
