//! Forms of the account and of administrators in Chromium with JavaScript turned off. The other forms are in
//! the life of an account and in the work of an administrator.

use storage::execute;
use tests::{Chromium, PASSWORD, SUBMIT, User, World, on_shapes};

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
    /// Opens a browser in which the user is signed in.
    async fn sign_in(world: &'w World, user: &User) -> Self {
        let chromium = Chromium::without_scripts().await;
        let visitor = Self { world, chromium };
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

async fn administrators_need_no_scripts(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let visitor = Visitor::sign_in(&world, &admin).await;
    visitor.open("/admin/keys").await;
    visitor.chromium.press("[popovertarget=rotation]").await;
    let rotate = "[popover]:popover-open form[action='/admin/keys/rotate'] button";
    visitor.submit(&[], rotate, "can be rotated in").await;

    visitor.open("/admin/users").await;
    let nobody = [("#email", "nobody@example.org")];
    visitor.submit(&nobody, SUBMIT, "class=\"empty\"").await;
    visitor.open(&format!("/admin/users/{}", user.id)).await;
    visitor.chromium.press("[popovertarget=dialog-disable]").await;
    let disable = "[popover]:popover-open button.danger";
    visitor.submit(&[], disable, CHANGED).await;

    visitor.open("/admin/apps/new").await;
    visitor.chromium.press("input[value=web]").await;
    let fields = [
        ("#name", "A shop"),
        ("#redirect_uris", "https://shop.example.org/cb"),
    ];
    visitor.submit(&fields, SUBMIT, "value=\"create\"").await;
    visitor.submit(&[], SUBMIT, DONE).await;
    visitor.submit(&[], "a.button", "client_created").await;
    visitor
        .submit(&[], "a[href^='/admin/token-preview']", "id=\"scope\"")
        .await;
    let email = world.user().await.email;
    visitor
        .submit(&[("#email", &email)], SUBMIT, "client_epoch")
        .await;
    visitor.open("/admin/events").await;
    let select = "form[role=search] button";
    visitor
        .chromium
        .press("select#outcome option[value=failure]")
        .await;
    visitor.submit(&[], select, "value=\"failure\" selected").await;
}

/// Retires a key, ends the access of an app and the session of a user, and changes an app.
async fn administrators_end_access_without_scripts(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().kind("web").register();
    app.tokens(&user, "posts:read").await;
    let visitor = Visitor::sign_in(&world, &admin).await;
    visitor.open("/admin/keys").await;
    visitor.chromium.press("[popovertarget=retirement-2]").await;
    let retire = "[popover]:popover-open form[action='/admin/keys/retire'] button";
    visitor.submit(&[], retire, "was retired as compromised").await;

    visitor.open(&format!("/admin/users/{}", user.id)).await;
    let end_session = "form:has([value=end-session]) button";
    let ended = "The user is not signed in anywhere.";
    visitor.submit(&[], end_session, ended).await;
    let revoke_consent = "form:has([value=revoke-consent]) button";
    let revoked = "No app has access to this account.";
    visitor.submit(&[], revoke_consent, revoked).await;

    visitor.open(&format!("/admin/clients/{}", app.id)).await;
    let press = async |dialog: &str| {
        let button = format!("[popovertarget=dialog-{dialog}]");
        visitor.chromium.press(&button).await;
    };
    let confirm = "[popover]:popover-open button[type=submit]";
    press("rotate-secret").await;
    visitor.submit(&[], confirm, DONE).await;
    visitor.submit(&[], "a.button", "dialog-disable").await;
    press("disable").await;
    visitor.submit(&[], confirm, "dialog-enable").await;
    press("enable").await;
    visitor.submit(&[], confirm, "dialog-disable").await;
}

async fn lists_are_filtered_without_scripts(world: World) {
    let admin = world.user_with_role("admin").await;
    let visitor = Visitor::sign_in(&world, &admin).await;
    let filter = "form[role=search] button";
    for (path, field, value) in [
        ("/admin/users", "role", "editor"),
        ("/admin/users", "disabled", "true"),
        ("/admin/clients", "type", "service"),
        ("/admin/clients", "first_party", "false"),
        ("/admin/sessions", "order", "asc"),
        ("/admin/consents", "order", "desc"),
        ("/admin/keys", "order", "asc"),
        ("/admin/events", "name", "authn_login_fail"),
    ] {
        visitor.open(path).await;
        let option = format!("select#{field} option[value={value}]");
        visitor.chromium.press(&option).await;
        let selected = format!("value=\"{value}\" selected");
        visitor.submit(&[], filter, &selected).await;
    }
    visitor.open("/admin/events").await;
    visitor.chromium.press("form[role=search] summary").await;
    let none = [("#trace_id", "none")];
    visitor.submit(&none, filter, "class=\"empty\"").await;
}

on_shapes!(the_account_is_changed_without_scripts: ; long: sqlite Sqlite);
on_shapes!(another_account_is_used_without_scripts: ; long: sqlite Sqlite);
on_shapes!(passkeys_replace_the_password_without_scripts: ; long: sqlite Sqlite);
on_shapes!(administrators_end_access_without_scripts: ; long: sqlite Sqlite);
on_shapes!(lists_are_filtered_without_scripts: ; long: sqlite Sqlite);
on_shapes!(apps_and_devices_are_decided_without_scripts: ; long: sqlite Sqlite);
on_shapes!(administrators_need_no_scripts: ; long: sqlite Sqlite);
