//! The states of the pages that few people meet. Only the walks that take pictures visit them.

use super::{DONE, FAILED, SUBMIT, Walk};
use serde_json::json;
use tests::{Authenticator, PASSWORD};

/// An address that browsers accept and the product does not.
const WRONG_EMAIL: &str = "ann..lee@example.org";
/// A password that many people have.
const COMMON_PASSWORD: &str = "password1234";
/// Names another user in the form, as on a page that was opened before somebody else signed in.
const SET_USER: &str = "document.querySelector('input[name=user]').value = args[0]";

/// Visits the rare states.
pub(super) async fn visit(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.open_as_stranger("/forgot").await;
    walk.submit(&[("#email", WRONG_EMAIL)], SUBMIT, FAILED).await;
    walk.check_expecting("forgot-failed", 422).await;
    walk.sign_in(&user).await;
    walk.open("/account/email").await;
    walk.submit(&[("#email", WRONG_EMAIL)], SUBMIT, FAILED).await;
    walk.check_expecting("email-failed", 422).await;
    walk.open("/password").await;
    walk.submit(&[("#new_password", COMMON_PASSWORD)], SUBMIT, FAILED)
        .await;
    walk.check_expecting("password-failed", 422).await;
    another_user(walk).await;
    changed_address(walk).await;
    second_step(walk).await;
}

/// The decision on a page that named another user.
async fn another_user(walk: &Walk<'_>) {
    let app = walk.world.app().kind("spa").register();
    walk.open(&app.authorization().path()).await;
    walk.chromium.run(SET_USER, &[json!("1")]).await;
    walk.submit(&[], "button[value=allow]", FAILED).await;
    walk.check_expecting("consent-user-changed", 409).await;
}

/// The link that confirms a changed address.
async fn changed_address(walk: &Walk<'_>) {
    let email = walk.world.fresh_email();
    walk.open("/account/email").await;
    walk.submit(&[("#email", &email)], SUBMIT, DONE).await;
    let mail = walk.world.mail(&email, "Confirm your new e-mail address", 1);
    let path = format!("/verify?token={}", mail.await.token());
    walk.visit("verify-change-signed-in", &path).await;
    walk.chromium.delete_cookies().await;
    walk.visit("verify-change", &path).await;
}

/// The second step of another user, and one that has ended.
async fn second_step(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let authenticator = Authenticator::enable(walk.world, &user).await;
    walk.open("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, "id=\"otp\"").await;
    walk.chromium.run(SET_USER, &[json!("1")]).await;
    let code = authenticator.recovery_codes[0].as_str();
    walk.submit(&[("#otp", code)], SUBMIT, FAILED).await;
    walk.check_expecting("second-step-user-changed", 409).await;
    let path = ["users", "reset-mfa", "--email", &user.email, "--json"];
    walk.world.cli(&path, "");
    walk.submit(&[("#otp", code)], SUBMIT, "id=\"password\"").await;
    walk.check_expecting("second-step-ended", 400).await;
}

/// The page for a browser whose address has made too many calls. Every page of this address is that one for the rest of the minute.
pub(super) async fn too_many_requests(walk: &Walk<'_>) {
    let url = format!("{}/signin", walk.world.base());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for _ in 0..1_000 {
        client.get(&url).send().await.unwrap();
    }
    walk.visit_expecting("too-many-requests", "/signin", 429).await;
}
