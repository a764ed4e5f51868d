//! The account of a user, and the decisions about apps and devices.

use super::{CHANGED, DONE, FAILED, SIGNED_IN, SUBMIT, Walk};
use serde_json::json;
use storage::execute;
use tests::{App, Authenticator, PASSWORD, User};

/// Visits the pages of a user.
pub(super) async fn visit(walk: &Walk<'_>) {
    other_sessions(walk).await;
    let world = walk.world;
    let user = world.sign_up().await;
    let connected_app = world.app().register();
    walk.sign_in(&user).await;
    walk.visit("account-new", "/account").await;
    connected_app.tokens(&user, "posts:read").await;
    walk.visit("account", "/account").await;
    demo_app(walk, &user).await;
    account(walk, &user).await;
    passkeys(walk, &user).await;
    two_step(walk, &user).await;
    decisions(walk, &connected_app).await;
    world.cli(&["users", "reset-mfa", "--email", &user.email, "--json"], "");
    walk.visit("sign-in-after-end", "/signin").await;
}

/// The demo app with a user, who changes a post after somebody else did.
async fn demo_app(walk: &Walk<'_>, user: &User) {
    let post = user.publish("A post").await;
    walk.open("/demo").await;
    walk.chromium.expect("id=\"sign-in\"").await;
    // The console reports that there were no tokens before.
    walk.chromium.console().await;
    walk.chromium.press("#sign-in").await;
    walk.chromium.expect("\"jti\"").await;
    let item = format!("#post-{}", post.id);
    walk.chromium.expect(&format!("id=\"{}\"", &item[1..])).await;
    walk.check("demo-app-signed-in").await;
    let save = format!("#edit-{}-save", post.id);
    let edit = format!("{item} > details:nth-of-type(1) > summary");
    walk.submit(&[], &edit, &format!("id=\"{}\"", &save[1..])).await;
    let theirs = json!({ "title": "Another title", "body": "Hello again." });
    let change = user.patch(&post.path).header("if-match", &post.etag);
    change.json(&theirs).await.expect(200);
    let title = format!("#edit-{}-title", post.id);
    let choice = "Keep one, or write another text:";
    walk.submit(&[(&title, "A title")], &save, choice).await;
    // The console reports the 412.
    walk.chromium.console().await;
    walk.check("demo-app-merge").await;
}

/// The account of a user who is signed in elsewhere too, and who ends the other sessions and deletes the
/// account.
async fn other_sessions(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    user.publish("A post").await;
    user.draft("A draft").await;
    walk.sign_in(&user).await;
    walk.visit("account-sessions", "/account").await;
    walk.chromium.press("[popovertarget=end-others]").await;
    walk.check("account-end-others").await;
    let button = "form[action='/account/sessions/end-others'] button";
    walk.submit(&[], button, CHANGED).await;
    walk.check("account-others-ended").await;
    walk.visit("deletion", "/account/deletion").await;
    walk.submit(&[], SUBMIT, DONE).await;
    walk.check("deletion-done").await;
}

/// The pages that change the address and the password.
async fn account(walk: &Walk<'_>, user: &User) {
    walk.visit("password", "/password").await;
    walk.visit("email", "/account/email").await;
    walk.world.confirm_email(&user.email).await;
    walk.open("/account/email").await;
    walk.submit(&[("#email", &walk.world.fresh_email())], SUBMIT, DONE)
        .await;
    walk.check("email-sent").await;
    walk.visit("account-email-requested", "/account").await;
}

async fn passkeys(walk: &Walk<'_>, user: &User) {
    let (world, chromium) = (walk.world, &walk.chromium);
    walk.sign_in(user).await;
    walk.visit("passkeys-none", "/account/passkeys").await;
    let app = world.app().kind("spa").register();
    walk.visit("consent-with-offer", &app.authorization().path())
        .await;
    walk.submit(&[], ".offer a", "data-passkey=\"create\"").await;
    walk.check("passkeys-in-flow").await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    walk.visit("passkeys", "/account/passkeys").await;
    chromium.press("summary").await;
    walk.check("passkeys-change").await;
    let button = "form[action='/account/passkeys/name'] button";
    walk.submit(&[("details[open] [name=name]", "  ")], button, FAILED)
        .await;
    walk.check_expecting("passkeys-failed", 422).await;
    // As if the session had begun with the passkey.
    let sign_in = "UPDATE sessions SET amr = 'passkey' WHERE user_id = $1";
    execute!(world.db().await.writer(), sign_in, user.id).unwrap();
    passkey.sign_in(&mut world.browser()).await;
    walk.visit("passkeys-password", "/account/passkeys").await;
    chromium.press("[popovertarget='password-removal']").await;
    walk.check("passkeys-remove-password").await;
    let button = "form[action='/account/password/removal'] button";
    walk.submit(&[], button, "href=\"/password\"").await;
    walk.check("passkeys-without-password").await;
    walk.visit("account-without-password", "/account").await;
    world.age_sign_ins_of(user).await;
    walk.visit("sign-in-again-without-password", "/account/email")
        .await;
    let renew = "UPDATE sessions SET created_at = last_seen_at WHERE user_id = $1";
    execute!(world.db().await.writer(), renew, user.id).unwrap();
    walk.visit("password-to-set", "/password").await;
    walk.submit(&[("#new_password", PASSWORD)], SUBMIT, "id=\"email\"")
        .await;
}

async fn two_step(walk: &Walk<'_>, user: &User) {
    let (world, chromium) = (walk.world, &walk.chromium);
    walk.sign_in(user).await;
    walk.visit("two-step-on", "/account/two-step").await;
    walk.submit(&[], SUBMIT, "otpauth://").await;
    walk.check("two-step-enrollment").await;
    let link = "return document.querySelector('a[href^=otpauth]').href";
    let link = chromium.run(link, &[]).await;
    let app = Authenticator::of_link(link.as_str().unwrap());
    walk.submit(&[("#otp", &app.code(world, 120))], SUBMIT, FAILED)
        .await;
    walk.check_expecting("two-step-failed", 422).await;
    walk.submit(&[("#otp", &app.next_code(world))], SUBMIT, "class=\"codes\"")
        .await;
    walk.check("recovery-codes").await;
    let hidden = "return document.querySelector('[data-action=print]').hidden";
    assert_eq!(chromium.run(hidden, &[]).await, false);
    walk.visit("two-step-off", "/account/two-step").await;
    world.age_sign_ins_of(user).await;
    walk.visit("sign-in-again", "/account/email").await;
    chromium.delete_cookies().await;
    walk.open("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, "id=\"otp\"").await;
    walk.check("second-step").await;
    walk.submit(&[("#otp", &app.code(world, 120))], SUBMIT, FAILED)
        .await;
    walk.check_expecting("second-step-failed", 401).await;
    walk.submit(&[("#otp", &app.next_code(world))], SUBMIT, SIGNED_IN)
        .await;
}

/// The pages on which a user decides about apps and devices, and signs out.
async fn decisions(walk: &Walk<'_>, connected_app: &App) {
    let world = walk.world;
    walk.visit("sign-out", "/signout").await;
    walk.visit("sign-up-signed-in", "/signup").await;
    walk.visit_expecting("admin-only", "/admin/keys", 403).await;
    let app = world.app().kind("spa").register();
    walk.visit("consent", &app.authorization().path()).await;
    let other_account = "main a[href^='/signin?flow=']";
    walk.submit(&[], other_account, "id=\"password\"").await;
    walk.check("sign-in-other-account").await;
    let more = connected_app
        .authorization()
        .set("scope", "posts:read posts:write");
    walk.visit("consent-more", &more.path()).await;
    walk.visit("device-empty", "/device").await;
    walk.submit(&[("#user_code", "BCDF-GHJK")], SUBMIT, FAILED).await;
    walk.check_expecting("device-failed", 422).await;
    let device_app = world.app().kind("native").option(&["--device"]).register();
    for (decision, name) in [("deny", "device-denied"), ("allow", "device-allowed")] {
        let device = device_app.device(&world.anyone(), "posts:read posts:write").await;
        walk.visit("device", &format!("/device?user_code={}", device.user_code))
            .await;
        walk.submit(&[], SUBMIT, "value=\"allow\"").await;
        walk.check("device-confirmation").await;
        walk.submit(&[], &format!("button[value={decision}]"), DONE).await;
        walk.check(name).await;
    }
}
