//! The states of the pages that few people meet. Only the walks that take pictures visit them.

mod account;
mod administration;
mod ends;
mod messages;

use super::{DONE, FAILED, SIGNED_IN, SUBMIT, Walk};
use serde_json::json;
use storage::execute;
use tests::{Authenticator, PASSWORD, User, parameter};
use url::Url;

/// An address that browsers accept and the product does not.
const WRONG_EMAIL: &str = "ann..lee@example.org";
/// A password that many people have.
const COMMON_PASSWORD: &str = "password1234";
/// The number of failures that lock sign-in.
const MAX_FAILURES: usize = 5;
/// The largest number of passkeys of a user.
const MAX_PASSKEYS: usize = 20;
/// Names another user in the form, as on a page that was opened before somebody else signed in.
const SET_USER: &str = "document.querySelector('input[name=user]').value = args[0]";
/// Fills in an address that is longer than a form may be.
const SET_LONG_EMAIL: &str = "
    const form = document.querySelector('main form');
    form.noValidate = true;
    form.elements.email.value = 'x'.repeat(66_000);
";

/// Visits the rare states.
pub(super) async fn visit(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    failed_forms(walk, &user).await;
    another_user(walk).await;
    changed_address(walk).await;
    taken_address(walk, &user).await;
    second_step(walk).await;
    locked_second_step(walk).await;
    two_step_off(walk).await;
    dropped_cookie(walk).await;
    many_passkeys(walk).await;
    failure(walk, &user).await;
    unavailable(walk, &user).await;
    walk.visit("demo-failed", "/demo?error=access_denied&state=some-state")
        .await;
    messages::visit(walk, &user).await;
    ends::visit(walk).await;
    account::visit(walk).await;
    administration::visit(walk).await;
    later_front_page(walk).await;
    messages::too_many_codes(walk, &user).await;
    messages::too_many_mails(walk).await;
    messages::too_many_long_requests(walk).await;
}

/// Forms with input that browsers accept and the issuer does not, and the mail with another link.
async fn failed_forms(walk: &Walk<'_>, user: &User) {
    walk.open_as_stranger("/forgot").await;
    walk.submit(&[("#email", WRONG_EMAIL)], SUBMIT, FAILED).await;
    walk.check_expecting("forgot-failed", 422).await;
    walk.open("/forgot").await;
    walk.chromium.run(SET_LONG_EMAIL, &[]).await;
    walk.submit(&[], SUBMIT, DONE).await;
    walk.check_expecting("form-too-large", 413).await;
    walk.sign_in(user).await;
    walk.submit(&[], "form[action='/account/email/confirmation'] button", DONE)
        .await;
    walk.check("account-link-sent").await;
    walk.open("/account/email").await;
    walk.submit(&[("#email", WRONG_EMAIL)], SUBMIT, FAILED).await;
    walk.check_expecting("email-failed", 422).await;
    walk.open("/password").await;
    walk.submit(&[("#new_password", COMMON_PASSWORD)], SUBMIT, FAILED)
        .await;
    walk.check_expecting("password-failed", 422).await;
    walk.open("/device").await;
    walk.submit(&[("#user_code", "ABC")], SUBMIT, FAILED).await;
    walk.check_expecting("device-code-invalid", 422).await;
}

/// The forms of a page that named another user.
async fn another_user(walk: &Walk<'_>) {
    walk.open("/account/email").await;
    walk.chromium.run(SET_USER, &[json!("1")]).await;
    walk.submit(&[("#email", &walk.world.fresh_email())], SUBMIT, DONE)
        .await;
    walk.check_expecting("account-user-changed", 409).await;
    let app = walk.world.app().kind("spa").register();
    walk.open(&app.authorization().path()).await;
    walk.chromium.run(SET_USER, &[json!("1")]).await;
    walk.submit(&[], "button[value=allow]", FAILED).await;
    walk.check_expecting("consent-user-changed", 409).await;
}

/// The link that confirms a changed address, also to a user whose session ends on its page.
async fn changed_address(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.sign_in(&user).await;
    let path = requested_change(walk, &walk.world.fresh_email()).await;
    walk.visit("verify-change-signed-in", &path).await;
    let db = walk.world.db().await;
    let expire = "UPDATE sessions SET expires_at = 1 WHERE user_id = $1";
    execute!(db.writer(), expire, user.id).unwrap();
    db.close().await;
    walk.submit(&[], SUBMIT, FAILED).await;
    walk.check_expecting("verify-password-missing", 422).await;
    walk.open_as_stranger("/signin").await;
    walk.visit("verify-change", &path).await;
}

/// The link that confirms an address which somebody else took meanwhile.
async fn taken_address(walk: &Walk<'_>, user: &User) {
    let email = walk.world.fresh_email();
    walk.sign_in(user).await;
    let path = requested_change(walk, &email).await;
    let sign_up = json!({ "email": email, "password": PASSWORD });
    let created = walk.world.anyone().post("/users").json(&sign_up);
    created.await.expect(201);
    walk.open(&path).await;
    walk.submit(&[], SUBMIT, DONE).await;
    walk.check_expecting("verify-taken", 409).await;
}

/// Asks for a change of the user's address. Returns the path of the link that confirms it.
async fn requested_change(walk: &Walk<'_>, email: &str) -> String {
    walk.open("/account/email").await;
    walk.submit(&[("#email", email)], SUBMIT, DONE).await;
    let mail = walk.world.mail(email, "Confirm your new e-mail address", 1);
    format!("/verify?token={}", mail.await.token())
}

/// Enters the password of a user with two-step sign-in.
async fn enter_password(walk: &Walk<'_>, user: &User) {
    walk.open_as_stranger("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, "id=\"otp\"").await;
}

/// The second step of another user, and one that has ended.
async fn second_step(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let authenticator = Authenticator::enable(walk.world, &user).await;
    enter_password(walk, &user).await;
    walk.chromium.run(SET_USER, &[json!("1")]).await;
    let code = authenticator.recovery_codes[0].as_str();
    walk.submit(&[("#otp", code)], SUBMIT, FAILED).await;
    walk.check_expecting("second-step-user-changed", 409).await;
    walk.chromium.press("summary").await;
    walk.check_expecting("second-step-recovery-code", 409).await;
    let wrong = [("#recovery_code", "abcd-abcd-abcd-abcd")];
    let refused = walk.word(">This recovery code", ">Dieser Wiederherstellungscode");
    walk.submit(&wrong, "details button", refused).await;
    walk.check_expecting("second-step-recovery-code-failed", 401)
        .await;
    let path = ["users", "reset-mfa", "--email", &user.email, "--json"];
    walk.world.cli(&path, "");
    walk.submit(&[("#otp", code)], SUBMIT, "id=\"password\"").await;
    walk.check_expecting("second-step-ended", 400).await;
}

/// The second step of a user whose password was entered wrongly too often meanwhile.
async fn locked_second_step(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let authenticator = Authenticator::enable(walk.world, &user).await;
    enter_password(walk, &user).await;
    for _ in 0..MAX_FAILURES {
        let failed = walk.world.anyone().login(&user.email, "not the password");
        failed.await.expect(401);
    }
    let code = authenticator.recovery_codes[0].as_str();
    walk.submit(&[("#otp", code)], SUBMIT, FAILED).await;
    walk.check_expecting("second-step-locked", 429).await;
}

/// An account without recovery codes, new ones, and the message that two-step sign-in is off.
async fn two_step_off(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let authenticator = Authenticator::enable(walk.world, &user).await;
    enter_password(walk, &user).await;
    let code = authenticator.recovery_codes[0].as_str();
    walk.submit(&[("#otp", code)], SUBMIT, SIGNED_IN).await;
    let db = walk.world.db().await;
    let use_up = "UPDATE recovery_codes SET used_at = 1 WHERE user_id = $1";
    execute!(db.writer(), use_up, user.id).unwrap();
    db.close().await;
    walk.visit("account-without-recovery-codes", "/account").await;
    walk.open("/account/two-step").await;
    let button = "form[action='/account/two-step/recovery-codes'] button";
    walk.submit(&[], button, "class=\"codes\"").await;
    walk.check("recovery-codes-renewed").await;
    walk.open("/account/two-step").await;
    walk.submit(&[], "form[action='/account/two-step/off'] button", DONE)
        .await;
    walk.check("two-step-is-off").await;
}

/// The page for a browser that did not keep the cookie of its new session.
async fn dropped_cookie(walk: &Walk<'_>) {
    let app = walk.world.app().kind("spa").register();
    walk.open_as_stranger(&app.authorization().path()).await;
    let address: Url = walk.chromium.expect("id=\"password\"").await.parse().unwrap();
    let flow = parameter(&address, "flow").unwrap();
    let path = format!("/consent?flow={flow}&signed_in=1");
    walk.visit_expecting("cookie-dropped", &path, 400).await;
}

/// The page of a user who can add no further passkey.
async fn many_passkeys(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    for _ in 0..MAX_PASSKEYS {
        walk.world.add_passkey(&mut user.browser()).await;
    }
    walk.sign_in(&user).await;
    walk.visit("passkeys-too-many", "/account/passkeys").await;
}

/// The front page after the first administrator replaced the initial password.
async fn later_front_page(walk: &Walk<'_>) {
    let db = walk.world.db().await;
    let replace = "UPDATE users SET password_change_required = FALSE WHERE email_key = 'admin@localhost'";
    execute!(db.writer(), replace).unwrap();
    db.close().await;
    walk.visit("front-page-later", "/").await;
}

/// The page of a failure of the service, here because a table is missing.
async fn failure(walk: &Walk<'_>, user: &User) {
    walk.sign_in(user).await;
    let db = walk.world.db().await;
    execute!(db.writer(), "ALTER TABLE passkeys RENAME TO missing_passkeys").unwrap();
    walk.visit_expecting("failure", "/account/passkeys", 500).await;
    execute!(db.writer(), "ALTER TABLE missing_passkeys RENAME TO passkeys").unwrap();
    db.close().await;
}

/// The page of a sign-in that cannot begin a session, here because the transaction of another process keeps
/// the SQLite file from writes for longer than the program waits.
async fn unavailable(walk: &Walk<'_>, user: &User) {
    walk.open_as_stranger("/signin").await;
    let db = walk.world.db().await;
    let other = db.begin().await.unwrap();
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, DONE).await;
    other.commit().await.unwrap();
    db.close().await;
    walk.check_expecting("unavailable", 503).await;
}

/// The page for a browser whose address has made too many calls. Every page of this address is that one for
/// the rest of the minute.
pub(super) async fn too_many_requests(walk: &Walk<'_>) {
    let url = format!("{}/signin", walk.world.base());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for _ in 0..1_000 {
        client.get(&url).send().await.unwrap();
    }
    walk.visit_expecting("too-many-requests", "/signin", 429).await;
}
