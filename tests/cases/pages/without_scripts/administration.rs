//! The forms of administrators.

use super::{CHANGED, DONE, Visitor};
use tests::{SUBMIT, World, on_shapes};

async fn administrators_need_no_scripts(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let visitor = Visitor::sign_in(&world, &admin).await;
    visitor.open("/admin/keys").await;
    visitor.chromium.press("[popovertarget=rotation]").await;
    let rotate = "[popover]:popover-open form[action='/admin/keys/rotate'] button";
    visitor.submit(&[], rotate, "can be rotated in").await;

    visitor.open("/admin/users").await;
    let nobody = [("#search", "nobody@example.org")];
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

/// Retires a key, ends the access of an app and the session of a user in the lists to which the page of the
/// user leads, and changes an app.
async fn administrators_end_access_without_scripts(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().kind("web").register();
    app.tokens(&user, "posts:read").await;
    let visitor = Visitor::sign_in(&world, &admin).await;
    visitor.open("/admin/keys").await;
    visitor.chromium.press("[popovertarget=retirement-2]").await;
    let retire = "[popover]:popover-open form[action='/admin/keys/retire'] button";
    visitor.submit(&[], retire, "was retired as compromised").await;

    // The page of the user leads to the lists.
    for list in ["/admin/consents", "/admin/sessions"] {
        visitor.open(&format!("/admin/users/{}", user.id)).await;
        let link = format!("a[href^='{list}?']");
        visitor.submit(&[], &link, "name=\"list\"").await;
        visitor.chromium.press("[popovertarget^=dialog-]").await;
        let end = "[popover]:popover-open button.danger";
        visitor.submit(&[], end, CHANGED).await;
    }

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

on_shapes!(administrators_end_access_without_scripts: ; long: sqlite Sqlite);
on_shapes!(lists_are_filtered_without_scripts: ; long: sqlite Sqlite);
on_shapes!(administrators_need_no_scripts: ; long: sqlite Sqlite);
