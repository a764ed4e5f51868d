//! Statements and round trips of users, sessions, two-step sign-in and mailed links.

use super::{Fixture, routes};
use serde_json::json;
use tests::{Authenticator, PASSWORD, User};

const NEW_PASSWORD: &str = "a new good password";

routes! {
    // Operation, case, [statements, round trips], request.
    createUser "" [7 7] |f| {
        let email = f.world.fresh_email();
        f.elsewhere().post("/users").json(&json!({ "email": email, "password": PASSWORD }))
    };
    readUser "bearer" [1 1] |f| f.bearer.get(&format!("/users/{}", f.owner.id));
    login "" [7 7] |f| f.world.anyone().login(&f.owner.email, PASSWORD);
    logout "session" [7 7] |f| f.world.log_in(&f.owner.email, PASSWORD).await.post("/logout");
    readMe "bearer" [1 1] |f| f.bearer.get("/me");
    readMe "session" [2 2] |f| f.owner.get("/me");
    changePassword "session" [14 14] |f| {
        let body = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
        f.world.user().await.call("PUT", "/me/password").json(&body)
    };
    removePassword "session" [15 15] |f| {
        let user = f.world.sign_up_confirmed().await;
        let passkey = f.world.add_passkey(&mut user.browser()).await;
        let mut browser = f.world.browser();
        passkey.sign_in(&mut browser).await;
        let caller = f.world.anyone().session(browser.cookie("sid").unwrap(), &user.csrf);
        caller.delete("/me/password")
    };
    exportAccount "session" [10 10] |f| f.world.user().await.get("/me/export");
    deleteAccount "session" [27 27] |f|
        f.world.user().await.delete("/me").json(&json!({ "password": PASSWORD }));
    listSessions "session" [2 2] |f| f.owner.get("/me/sessions");
    endOtherSessions "session" [9 9] |f| {
        let user = f.world.user().await;
        f.world.start_sessions(&user, 1).await;
        user.delete("/me/sessions")
    };
    endSession "session" [7 7] |f| {
        let other = f.world.log_in(&f.owner.email, PASSWORD).await;
        let listed = other.get("/me/sessions").await.expect(200).json();
        let sessions = listed["items"].as_array().unwrap();
        let current = sessions.iter().find(|session| session["current"] == true).unwrap();
        f.owner.delete(&format!("/me/sessions/{}", current["id"]))
    };
    listGrants "session" [2 2] |f| f.owner.get("/me/grants");
    withdrawGrant "session" [6 6] |f| {
        let user = f.world.user().await;
        f.app.authorize(&mut user.browser(), &user, "posts:read").await;
        user.delete(&format!("/me/grants/{}", f.app.id))
    };

    beginTotp "session" [9 9] |f| f.owner.post("/me/mfa/totp").json(&json!({ "password": PASSWORD }));
    confirmTotp "session" [27 27] |f| {
        let user = f.world.user().await;
        let app = Authenticator::begin(&user).await;
        let body = json!({ "otp": app.next_code(&f.world) });
        user.post("/me/mfa/totp/verifications").json(&body)
    };
    renewRecoveryCodes "session" [26 26] |f| {
        let (user, app) = with_two_steps(f).await;
        let body = json!({ "password": PASSWORD, "otp": app.recovery_codes[0] });
        user.post("/me/mfa/recovery-codes").json(&body)
    };
    disableTotp "session" [23 23] |f| {
        let (user, app) = with_two_steps(f).await;
        let body = json!({ "password": PASSWORD, "otp": app.recovery_codes[0] });
        user.delete("/me/mfa/totp").json(&body)
    };

    listPasskeys "session" [2 2] |f| f.owner.get("/me/passkeys");
    renamePasskey "session" [7 7] |f| {
        let (user, id) = with_passkey(f).await;
        let call = user.call("PUT", &format!("/me/passkeys/{id}/name"));
        call.json(&json!({ "name": "Tablet" }))
    };
    removePasskey "session" [16 16] |f| {
        let (user, id) = with_passkey(f).await;
        user.delete(&format!("/me/passkeys/{id}")).json(&json!({ "password": PASSWORD }))
    };

    requestPasswordReset "" [7 7] |f| {
        let email = f.world.user().await.email;
        f.elsewhere().post("/password-resets").json(&json!({ "email": email }))
    };
    requestPasswordReset "unknown address" [7 7] |f| {
        let email = f.world.fresh_email();
        f.elsewhere().post("/password-resets").json(&json!({ "email": email }))
    };
    confirmPasswordReset "" [19 19] |f| {
        let body = json!({ "token": reset_token(f).await, "new_password": NEW_PASSWORD });
        f.world.anyone().post("/password-resets/confirmations").json(&body)
    };
    requestEmailVerification "session" [10 10] |f|
        f.world.user().await.post("/email-verifications").json(&json!({}));
    confirmEmailVerification "session" [9 9] |f| {
        let user = f.world.sign_up().await;
        let token = f.world.mail(&user.email, "Confirm your e-mail address", 1).await.token();
        user.confirm_email(&token)
    };
    confirmEmailVerification "password" [8 8] |f| {
        let email = f.world.sign_up().await.email;
        let token = f.world.mail(&email, "Confirm your e-mail address", 1).await.token();
        f.world.anyone().confirm_email_with(&token, PASSWORD)
    };
}

/// Requests the reset of a new user's password. Returns the token in the mail.
async fn reset_token(f: &Fixture) -> String {
    let email = f.world.user().await.email;
    let ask = f
        .elsewhere()
        .post("/password-resets")
        .json(&json!({ "email": email }));
    ask.await.expect(202);
    f.world.mail(&email, "Reset your password", 1).await.token()
}

/// A user with two-step sign-in, and the app.
pub(super) async fn with_two_steps(f: &Fixture) -> (User, Authenticator) {
    let user = f.world.user().await;
    let app = Authenticator::enable(&f.world, &user).await;
    let user = f.world.log_in_with(&app.sign_in(&f.world, &user)).await;
    (user, app)
}

/// A user with a passkey, and its id.
async fn with_passkey(f: &Fixture) -> (User, i64) {
    let user = f.world.user().await;
    f.world.add_passkey(&mut user.browser()).await;
    let list = user.get("/me/passkeys").await.expect(200).json();
    (user, list["items"][0]["id"].as_i64().unwrap())
}
