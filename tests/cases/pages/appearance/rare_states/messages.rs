//! Messages that few people meet: about flows, forms, devices and sign-outs of apps.

use super::super::{DONE, FAILED, SUBMIT, Walk};
use super::WRONG_EMAIL;
use serde_json::json;
use tests::{PASSWORD, User};

/// The largest number of mails that a client address can request in a quarter of an hour.
const MAX_MAILS: usize = 20;
/// The largest number of wrong codes of devices that a user can enter in a quarter of an hour.
const MAX_CODES: usize = 10;
/// The largest number of requests too long for a URL that a client address can send in half an hour.
const MAX_LONG_REQUESTS: usize = 300;
/// Adds a second field for the address.
const REPEAT_EMAIL: &str = "
    const repeated = document.createElement('input');
    Object.assign(repeated, { type: 'hidden', name: 'email' });
    document.querySelector('main form').append(repeated);
";
/// Gives the button that allows the access another decision.
const SET_DECISION: &str = "document.querySelector('button[value=allow]').value = 'perhaps'";

/// Visits the messages.
pub(super) async fn visit(walk: &Walk<'_>, user: &User) {
    sign_up_in_flow(walk).await;
    refused_forms(walk, user).await;
    decided_device(walk, user).await;
    sign_out_of_app(walk).await;
}

/// A sign-up on the way to an app, and the link that confirms the address and leads back.
async fn sign_up_in_flow(walk: &Walk<'_>) {
    let (world, email) = (walk.world, walk.world.fresh_email());
    let app = world.app().kind("spa").register();
    walk.open_as_stranger(&app.authorization().path()).await;
    let new_password = "autocomplete=\"new-password\"";
    walk.submit(&[], "main a[href^='/signup']", new_password).await;
    let wrong = [("#email", WRONG_EMAIL), ("#password", PASSWORD)];
    walk.submit(&wrong, SUBMIT, FAILED).await;
    walk.check_expecting("sign-up-wrong-address", 422).await;
    let right = [("#email", email.as_str()), ("#password", PASSWORD)];
    walk.submit(&right, SUBMIT, "value=\"allow\"").await;
    let mail = world.mail(&email, "Confirm your e-mail address", 1).await;
    walk.open(&format!("/verify?token={}", mail.token())).await;
    walk.submit(&[], SUBMIT, DONE).await;
    walk.check("verify-done-in-flow").await;
}

/// A form with a repeated field, the address of a form, and a form without a decision.
async fn refused_forms(walk: &Walk<'_>, user: &User) {
    walk.open_as_stranger("/forgot").await;
    walk.chromium.run(REPEAT_EMAIL, &[]).await;
    walk.submit(&[("#email", &user.email)], SUBMIT, DONE).await;
    walk.check_expecting("form-unreadable", 400).await;
    walk.visit_expecting("form-by-address", "/account/two-step/confirmation", 405)
        .await;
    walk.sign_in(user).await;
    let app = walk.world.app().kind("spa").register();
    walk.open(&app.authorization().path()).await;
    walk.chromium.run(SET_DECISION, &[]).await;
    walk.submit(&[], "button[value=perhaps]", DONE).await;
    walk.check_expecting("consent-without-decision", 400).await;
}

/// A device whose request was denied in another browser of the user, who is signed in here.
async fn decided_device(walk: &Walk<'_>, user: &User) {
    let app = walk.world.app().kind("native").option(&["--device"]).register();
    let device = app.device(&walk.world.anyone(), "posts:read").await;
    walk.open(&format!("/device?user_code={}", device.user_code))
        .await;
    walk.submit(&[], SUBMIT, "value=\"allow\"").await;
    device.decide(user, "deny").await;
    walk.submit(&[], "button[value=allow]", DONE).await;
    walk.check_expecting("device-decided", 400).await;
}

/// The request of an app to sign the user out, and one that cannot be followed.
async fn sign_out_of_app(walk: &Walk<'_>) {
    let app = walk.world.app().register();
    walk.visit("sign-out-of-app", &format!("/signout?client_id={}", app.id))
        .await;
    let invalid = "/signout?post_logout_redirect_uri=https%3A%2F%2Fapp.test%2Fbye";
    walk.visit_expecting("sign-out-invalid", invalid, 400).await;
}

/// The form for a forgotten password, for a client address that has requested too many mails. It can request
/// no other mail for a quarter of an hour.
pub(super) async fn too_many_mails(walk: &Walk<'_>) {
    let url = format!("{}/password-resets", walk.world.base());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for _ in 0..MAX_MAILS {
        let request = json!({ "email": walk.world.fresh_email() });
        client.post(&url).json(&request).send().await.unwrap();
    }
    walk.open_as_stranger("/forgot").await;
    let email = walk.world.fresh_email();
    walk.submit(&[("#email", &email)], SUBMIT, FAILED).await;
    walk.check_expecting("forgot-too-many", 429).await;
}

/// The form for the code of a device, for a user who has entered too many wrong ones.
pub(super) async fn too_many_codes(walk: &Walk<'_>, user: &User) {
    let wrong = "BCDF-GHJK";
    let mut browser = user.browser();
    for _ in 0..MAX_CODES {
        browser.enter_user_code(wrong).await;
    }
    walk.sign_in(user).await;
    walk.open("/device").await;
    walk.submit(&[("#user_code", wrong)], SUBMIT, FAILED).await;
    walk.check_expecting("device-too-many-codes", 429).await;
}

/// The page about an app whose request is too long for a URL, for a client address that has sent too many of
/// these.
pub(super) async fn too_many_long_requests(walk: &Walk<'_>) {
    let app = walk.world.app().register();
    let path = app.authorization().set("state", &"s".repeat(1536)).path();
    let url = format!("{}{path}", walk.world.base());
    let client = reqwest::Client::builder().no_proxy();
    let client = client
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    for _ in 0..MAX_LONG_REQUESTS {
        client.get(&url).send().await.unwrap();
    }
    walk.visit_expecting("too-many-long-requests", &path, 429).await;
}
