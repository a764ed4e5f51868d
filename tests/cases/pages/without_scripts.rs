//! Forms of the account and of administrators in Chromium with JavaScript turned off. The other forms are in the life of an account.

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

on_shapes!(the_account_is_changed_without_scripts: ; long: sqlite Sqlite);
on_shapes!(apps_and_devices_are_decided_without_scripts: ; long: sqlite Sqlite);
on_shapes!(administrators_need_no_scripts: ; long: sqlite Sqlite);
