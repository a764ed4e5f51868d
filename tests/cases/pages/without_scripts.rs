//! Forms of the account and of administrators in Chromium with JavaScript turned off. The other forms are in
//! the life of an account and in the work of an administrator.

mod administration;

use storage::execute;
use tests::{Authenticator, Chromium, PASSWORD, SUBMIT, User, World, on_shapes};

const NEW_PASSWORD: &str = "another good password";
/// A part of a page that reports a change.
const CHANGED: &str = "class=\"success\"";
/// A part of a message page.
const DONE: &str = "class=\"button\"";

/// A browser without scripts.
struct Visitor<'w> {
    world: &'w World,
    chromium: Chromium,
}

impl<'w> Visitor<'w> {
    /// Opens a browser in which nobody is signed in.
    async fn start(world: &'w World) -> Self {
        let chromium = Chromium::without_scripts().await;
        Self { world, chromium }
    }

    /// Opens a browser in which the user is signed in.
    async fn sign_in(world: &'w World, user: &User) -> Self {
        let visitor = Self::start(world).await;
        visitor.open("/signin").await;
        visitor.sign_in_with(&user.email, PASSWORD).await;
        visitor
    }

    /// Submits the sign-in form of the page.
    async fn sign_in_with(&self, email: &str, password: &str) {
        let fields = [("#email", email), ("#password", password)];
        self.submit(&fields, SUBMIT, "href=\"/signout\"").await;
    }

    async fn open(&self, path: &str) {
        self.chromium.open(&format!("{}{path}", self.world.base())).await;
    }

    /// Fills in fields, presses the button, and waits for the page whose source alone has this text.
    async fn submit(&self, fields: &[(&str, &str)], button: &str, text: &str) {
        self.chromium.submit(fields, button, text).await;
    }
}

async fn the_account_is_changed_without_scripts(world: World) {
    let user = world.user().await;
    let visitor = Visitor::sign_in(&world, &user).await;
    visitor.open("/account").await;
    visitor.chromium.press("[popovertarget=end-others]").await;
    let button = "form[action='/account/sessions/end-others'] button";
    visitor.submit(&[], button, CHANGED).await;
    visitor.open("/password").await;
    visitor
        .submit(&[("#new_password", NEW_PASSWORD)], SUBMIT, CHANGED)
        .await;
    visitor.sign_in_with(&user.email, NEW_PASSWORD).await;
    visitor.open("/account/email").await;
    let email = world.fresh_email();
    visitor.submit(&[("#email", &email)], SUBMIT, DONE).await;
    let mail = world.mail(&email, "Confirm your new e-mail address", 1);
    visitor
        .open(&format!("/verify?token={}", mail.await.token()))
        .await;
    visitor.submit(&[], SUBMIT, DONE).await;
}

/// Has the link mailed again that confirms the address, and opens it as a stranger, who asks for a new
/// password and then enters the present one.
async fn an_address_is_confirmed_without_scripts(world: World) {
    let user = world.sign_up().await;
    let visitor = Visitor::sign_in(&world, &user).await;
    let again = "form[action='/account/email/confirmation'] button";
    visitor.submit(&[], again, DONE).await;
    let mail = world.mail(&user.email, "Confirm your e-mail address", 2).await;
    let stranger = Visitor::start(&world).await;
    let path = format!("/verify?token={}", mail.token());
    stranger.open(&path).await;
    let forgot = "form[action='/forgot'] button";
    stranger.submit(&[], forgot, "Check your e-mail").await;
    stranger.open(&path).await;
    stranger.submit(&[("#password", PASSWORD)], SUBMIT, DONE).await;
}

async fn two_step_sign_in_is_turned_off_without_scripts(world: World) {
    let user = world.user().await;
    let authenticator = Authenticator::enable(&world, &user).await;
    let visitor = Visitor::start(&world).await;
    visitor.open("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    visitor.submit(&fields, SUBMIT, "id=\"otp\"").await;
    visitor.chromium.press("summary").await;
    let code = [("#recovery_code", authenticator.recovery_codes[0].as_str())];
    visitor.submit(&code, "details button", "href=\"/signout\"").await;
    for (form, text) in [("recovery-codes", "class=\"codes\""), ("off", DONE)] {
        visitor.open("/account/two-step").await;
        let button = format!("form[action='/account/two-step/{form}'] button");
        visitor.submit(&[], &button, text).await;
    }
}

async fn an_initial_password_is_replaced_without_scripts(world: World) {
    let email = world.fresh_email();
    let created = world.cli(&["users", "create", "--email", &email, "--json"], "");
    let initial = created["initial_password"].as_str().unwrap();
    let visitor = Visitor::start(&world).await;
    visitor.open("/signin").await;
    let fields = [("#email", email.as_str()), ("#password", initial)];
    visitor.submit(&fields, SUBMIT, "id=\"new_password\"").await;
    visitor
        .submit(&[("#new_password", NEW_PASSWORD)], SUBMIT, CHANGED)
        .await;
    visitor.sign_in_with(&email, NEW_PASSWORD).await;
}

async fn apps_and_devices_are_decided_without_scripts(world: World) {
    let user = world.user().await;
    let visitor = Visitor::sign_in(&world, &user).await;
    let callback = format!("{}/demo", world.base());
    let app = world.app().kind("web").redirect_uri(&callback).register();
    visitor.open(&app.authorization().path()).await;
    visitor.submit(&[], "button[value=deny]", "access_denied").await;
    let app = world.app().kind("native").option(&["--device"]).register();
    let device = app.device(&world.anyone(), "posts:read").await;
    visitor.open("/device").await;
    visitor
        .submit(&[("#user_code", &device.user_code)], SUBMIT, "value=\"allow\"")
        .await;
    visitor.submit(&[], "button[value=allow]", DONE).await;
}

/// Follows the link for another user on the pages that decide about an app and about a device.
async fn another_account_is_used_without_scripts(world: World) {
    let (alice, bob) = (world.user().await, world.user().await);
    let callback = format!("{}/demo", world.base());
    let app = world.app().kind("web").redirect_uri(&callback).register();
    let device_app = world.app().kind("native").option(&["--device"]).register();
    let device = device_app.device(&world.anyone(), "posts:read").await;
    let visitor = Visitor::sign_in(&world, &alice).await;
    let not_you = "main a[href^='/signin?flow=']";
    let shown = |user: &User| format!("<bdi>{}</bdi>", user.email);

    visitor.open(&app.authorization().path()).await;
    visitor.chromium.expect(&shown(&alice)).await;
    visitor.submit(&[], not_you, "id=\"password\"").await;
    let fields = [("#email", bob.email.as_str()), ("#password", PASSWORD)];
    visitor.submit(&fields, SUBMIT, &shown(&bob)).await;
    visitor
        .submit(&[], "button[value=allow]", "Authorization code received")
        .await;

    visitor
        .open(&format!("/device?user_code={}", device.user_code))
        .await;
    visitor.submit(&[], SUBMIT, "value=\"allow\"").await;
    visitor.submit(&[], not_you, "id=\"password\"").await;
    let fields = [("#email", alice.email.as_str()), ("#password", PASSWORD)];
    visitor.submit(&fields, SUBMIT, "id=\"user_code\"").await;
    visitor.submit(&[], SUBMIT, "value=\"allow\"").await;
    visitor.chromium.expect(&shown(&alice)).await;
}

/// Renames a passkey and removes it, and then removes the password.
async fn passkeys_replace_the_password_without_scripts(world: World) {
    let user = world.sign_up_confirmed().await;
    world.add_passkey(&mut user.browser()).await;
    let kept = world.add_passkey(&mut user.browser()).await;
    let visitor = Visitor::sign_in(&world, &user).await;
    visitor.open("/account/passkeys").await;
    visitor.chromium.press("summary").await;
    let rename = "details[open] form[action='/account/passkeys/name'] button";
    let name = [("details[open] [name=name]", "The lost phone")];
    visitor.submit(&name, rename, CHANGED).await;
    visitor.chromium.expect("The lost phone").await;
    visitor.chromium.press("summary").await;
    let remove = "details[open] form[action='/account/passkeys/removal'] button";
    visitor.submit(&[], remove, "The passkey is removed").await;
    assert!(!visitor.chromium.source().await.contains("The lost phone"));

    // As if the session had begun with a passkey.
    let sign_in = "UPDATE sessions SET amr = 'passkey' WHERE user_id = $1";
    execute!(world.db().await.writer(), sign_in, user.id).unwrap();
    kept.sign_in(&mut world.browser()).await;
    visitor.open("/account/passkeys").await;
    visitor.chromium.press("[popovertarget=password-removal]").await;
    let remove = "[popover]:popover-open form[action='/account/password/removal'] button";
    visitor.submit(&[], remove, "Your password is removed").await;
}

on_shapes!(the_account_is_changed_without_scripts: ; long: sqlite Sqlite);
on_shapes!(an_address_is_confirmed_without_scripts: ; long: sqlite Sqlite);
on_shapes!(two_step_sign_in_is_turned_off_without_scripts: ; long: sqlite Sqlite);
on_shapes!(an_initial_password_is_replaced_without_scripts: ; long: sqlite Sqlite);
on_shapes!(another_account_is_used_without_scripts: ; long: sqlite Sqlite);
on_shapes!(passkeys_replace_the_password_without_scripts: ; long: sqlite Sqlite);
on_shapes!(apps_and_devices_are_decided_without_scripts: ; long: sqlite Sqlite);
