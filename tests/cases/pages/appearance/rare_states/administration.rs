//! The rare states of the pages for administrators.

use super::super::{CHANGED, DONE, Walk};

/// More users than a page of the list has.
const USERS: usize = 21;

/// Visits the rare states of the pages for administrators.
pub(super) async fn visit(walk: &Walk<'_>) {
    let admin = walk.world.user_with_role("admin").await;
    walk.sign_in(&admin).await;
    walk.visit("account-of-administrator", "/account").await;
    walk.visit("user-own", &format!("/admin/users/{}", admin.id))
        .await;
    walk.visit("users-refused", "/admin/users?search=a%01b&disabled=perhaps")
        .await;
    walk.visit("events-refused", "/admin/events?user_id=x").await;
    let unknown = "/admin/events?trace_id=none";
    walk.visit("events-none-of-trace", unknown).await;
    for _ in 0..USERS {
        walk.world.user().await;
    }
    walk.open("/admin/users").await;
    walk.submit(&[], "a[rel=next]", "rel=\"prev\"").await;
    walk.check("users-second-page").await;
    walk.visit("sessions-of-many", "/admin/sessions").await;
    walk.submit(&[], "a[rel=next]", "rel=\"prev\"").await;
    walk.check("sessions-second-page").await;
    walk.visit("sessions-refused", "/admin/sessions?user_id=ann")
        .await;
    walk.visit("connected-apps-refused", "/admin/consents?user_id=ann")
        .await;
    walk.visit("apps-refused", "/admin/clients?type=x&disabled=perhaps")
        .await;
    changed_app(walk).await;
}

/// An app whose secret is replaced, and which is then disabled.
async fn changed_app(walk: &Walk<'_>) {
    let chromium = &walk.chromium;
    let app = walk.world.app().kind("web").register();
    walk.open(&format!("/admin/clients/{}", app.id)).await;
    chromium.press("[popovertarget=dialog-rotate-secret]").await;
    walk.check("app-new-secret").await;
    walk.submit(&[], "[popover]:popover-open button[type=submit]", DONE)
        .await;
    walk.check("app-secret").await;
    walk.submit(&[], "a.button", "popovertarget=\"dialog-disable\"")
        .await;
    walk.check("app-with-two-secrets").await;
    chromium.press("[popovertarget=dialog-disable]").await;
    walk.check("app-disable").await;
    walk.submit(&[], "[popover]:popover-open button.danger", CHANGED)
        .await;
    walk.check("app-disabled").await;
}
