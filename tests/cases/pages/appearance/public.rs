//! The pages for everybody, and those behind mailed links.

use super::{CHANGED, DONE, FAILED, SUBMIT, Walk};
use serde_json::json;
use tests::PASSWORD;

const NEW_PASSWORD: &str = "another good password";

/// Returns whether the stylesheet or the browser draws each radio button and checkbox.
const CHOICES: &str = "
    const controls = [...document.querySelectorAll('.choice > input')];
    return controls.map(control => getComputedStyle(control).appearance);
";

/// Visits the pages of a browser in which nobody is signed in.
pub(super) async fn visit(walk: &Walk<'_>) {
    walk.visit("design", "/_design").await;
    let choices = walk.chromium.run(CHOICES, &[]).await;
    assert_eq!(choices, json!(["none", "none", "none"]));
    if walk.language == "en" {
        walk.check_copy_button().await;
        walk.check_password_script().await;
        reference(walk).await;
    }
    without_session(walk).await;
    mailed_links(walk).await;
    required_password(walk).await;
}

/// The reference, which is in English, with one of its short sections, and the page that sends requests.
/// From the end of the list of operations, which is beside the content, the Tab key goes up.
async fn reference(walk: &Walk<'_>) {
    for (name, path) in [("reference", "/docs"), ("reference-comments", "/docs/comments")] {
        walk.open(path).await;
        walk.check_appearances(name, name).await;
        walk.chromium.expect_no_trace(&[], 200).await;
    }
    walk.open("/docs/try").await;
    walk.chromium.expect("operations-Posts-createPost").await;
    walk.check_around_swagger_ui("reference-try").await;
}

/// The demo app without a user. It asks for new tokens, and the console reports the refusal.
async fn demo_app(walk: &Walk<'_>) {
    walk.open("/demo").await;
    walk.chromium.expect("id=\"sign-in\"").await;
    let console = walk.chromium.console().await;
    assert!(
        console.len() == 1 && console[0].contains("/token "),
        "{console:?}"
    );
    walk.check("demo-app").await;
}

/// The pages of a browser in which nobody is signed in.
async fn without_session(walk: &Walk<'_>) {
    let (world, chromium) = (walk.world, &walk.chromium);
    for (name, path, status) in [
        ("front-page", "/", 200),
        ("sign-up", "/signup", 200),
        ("sign-in", "/signin", 200),
        ("forgot", "/forgot", 200),
        ("invalid-link", "/verify?token=", 400),
        ("invalid-reset-link", "/reset?token=", 400),
        ("invalid-authorization", "/authorize?client_id=none", 400),
        ("signed-out", "/signout", 200),
        ("not-found", "/nowhere", 404),
        ("flow-not-found", "/consent?flow=unknown", 400),
        ("demo", "/demo?code=some-code&state=some-state", 200),
    ] {
        walk.visit_expecting(name, path, status).await;
    }
    demo_app(walk).await;
    walk.check_front_page().await;
    let user = world.sign_up().await;
    let email = ("#email", user.email.as_str());
    walk.open("/signin").await;
    walk.submit(&[email, ("#password", "not the password")], SUBMIT, FAILED)
        .await;
    walk.check_expecting("sign-in-failed", 401).await;
    for _ in 0..5 {
        world.anyone().login(&user.email, "not the password").await;
    }
    walk.open("/signin").await;
    walk.submit(&[email, ("#password", PASSWORD)], SUBMIT, FAILED)
        .await;
    walk.check_expecting("sign-in-locked", 429).await;
    walk.open("/signup").await;
    walk.submit(&[email, ("#password", PASSWORD)], SUBMIT, FAILED)
        .await;
    walk.check_expecting("sign-up-failed", 409).await;
    walk.open("/forgot").await;
    walk.submit(&[email], SUBMIT, "class=\"quiet\"").await;
    walk.check("forgot-sent").await;
    // A form whose cookie is missing.
    walk.open("/forgot").await;
    chromium.delete_cookies().await;
    walk.submit(&[email], SUBMIT, DONE).await;
    walk.check_expecting("form-forged", 403).await;
}

/// The pages behind the links in mails.
async fn mailed_links(walk: &Walk<'_>) {
    let world = walk.world;
    let user = world.sign_up().await;
    let mail = world.mail(&user.email, "Confirm your e-mail address", 1).await;
    let verify = format!("/verify?token={}", mail.token());
    let reset = format!("/reset?token={}", world.reset_token(&user.email, 1).await);
    walk.sign_in(&user).await;
    walk.visit("verify-signed-in", &verify).await;
    walk.chromium.delete_cookies().await;
    walk.visit("verify", &verify).await;
    walk.submit(&[("#password", "not the password")], SUBMIT, FAILED)
        .await;
    walk.check_expecting("verify-failed", 422).await;
    walk.submit(&[("#password", PASSWORD)], SUBMIT, DONE).await;
    walk.check("verify-done").await;
    walk.visit("reset", &reset).await;
    walk.submit(&[("#new_password", "password1234")], SUBMIT, FAILED)
        .await;
    walk.check_expecting("reset-failed", 422).await;
    walk.submit(&[("#new_password", NEW_PASSWORD)], SUBMIT, DONE)
        .await;
    walk.check("reset-done").await;
}

/// The page on which a user replaces a password that an administrator gave, and the page after the change.
async fn required_password(walk: &Walk<'_>) {
    let email = walk.world.fresh_email();
    let created = walk
        .world
        .cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = created["initial_password"].as_str().unwrap();
    walk.open("/signin").await;
    walk.submit(
        &[("#email", &email), ("#password", initial)],
        SUBMIT,
        "id=\"new_password\"",
    )
    .await;
    walk.check("password-required").await;
    walk.submit(&[("#new_password", NEW_PASSWORD)], SUBMIT, CHANGED)
        .await;
    walk.check("sign-in-after-change").await;
}
