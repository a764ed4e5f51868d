//! The rare states of the pages for administrators.

use super::super::{CHANGED, DONE, Walk};
use std::time::Duration;
use storage::execute;

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
    unfinished_searches(walk).await;
}

/// Pages with nothing to show of more events than a page searches.
async fn unfinished_searches(walk: &Walk<'_>) {
    let insert = "
        INSERT INTO security_events (at, name, outcome, trace_id)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 24000)
        SELECT $1 - CAST(n AS BIGINT) * 1000000, CASE n % 2 WHEN 0 THEN 'authn_login_success' ELSE 'authn_login_fail' END,
               CASE n % 2 WHEN 0 THEN 'success' ELSE 'failure' END, 'earlier'
        FROM numbers";
    // Old enough that no alert is raised about them.
    let newest = walk.world.now().before(Duration::from_hours(10));
    let db = walk.world.db().await;
    execute!(db.writer(), insert, newest).unwrap();
    db.close().await;
    let both = "/admin/events?name=authn_login_fail&outcome=success";
    walk.visit("events-none-yet", both).await;
    let refusals = "/admin/events?view=refusals&name=authn_login_success";
    walk.visit("events-refusals-unsearched", refusals).await;
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
