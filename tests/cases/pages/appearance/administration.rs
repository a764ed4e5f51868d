//! The pages for administrators.

use super::{CHANGED, DONE, FAILED, SUBMIT, Walk};
use foundation::cursor::Cursor;
use std::time::Duration;
use storage::execute;
use tests::User;

/// Visits the pages for administrators.
pub(super) async fn visit(walk: &Walk<'_>) {
    let admin = walk.world.user_with_role("admin").await;
    signing_keys(walk, &admin).await;
    users(walk, &admin).await;
    apps(walk, &admin).await;
    connected_apps(walk).await;
    walk.visit("events", "/admin/events").await;
    walk.visit("events-none", "/admin/events?user_id=1000000000&outcome=failure")
        .await;
    new_events(walk).await;
    refusals(walk).await;
    figures(walk).await;
    walk.world.age_sign_ins_of(&admin).await;
    walk.visit("signing-keys-later", "/admin/keys").await;
    walk.visit("sessions-later", "/admin/sessions").await;
}

/// An event that happened after the page was opened.
async fn new_events(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    walk.open(&format!("/admin/events?user_id={}", user.id)).await;
    walk.chromium.press("[data-events] button").await;
    let anyone = user.anonymous();
    let failed = anyone.login(&user.email, "not the password").await.expect(401);
    walk.chromium.expect(failed.correlation_id()).await;
    walk.check("events-live").await;
}

/// The refusals grouped by kind and cause, and the view without one.
async fn refusals(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let anyone = user.anonymous();
    for _ in 0..3 {
        anyone.login(&user.email, "not the password").await.expect(401);
    }
    user.get("/admin/users").await.expect(403);
    walk.visit("events-refusals", "/admin/events?view=refusals").await;
    let none = "/admin/events?view=refusals&user_id=1000000000";
    walk.visit("events-refusals-none", none).await;
}

/// The plots of an hour with gaps, and of a week.
async fn figures(walk: &Walk<'_>) {
    let fill = "
        INSERT INTO figures (at, requests, client_errors, server_errors, sign_ins, failed_sign_ins, code_grants, refresh_grants,
                             service_grants, device_grants, reuse_alerts, lag_10ms, lag_250ms, wait_5ms, wait_50ms)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 60)
        SELECT $1 - CAST(n AS BIGINT) * 60000000, 100 + n * 7 % 40, n % 9, n % 11 / 10, n % 13, n % 4, n % 17, 10 + n % 23, n % 3, n % 2,
               n % 19 / 18, n / 10 % 2 * 50, n / 10 % 2 * 2, 20, n % 5
        FROM numbers WHERE TRUE ON CONFLICT (at) DO NOTHING";
    let (db, now) = (walk.world.db().await, walk.world.now());
    execute!(db.writer(), fill, now).unwrap();
    walk.visit("figures", "/admin").await;
    walk.visit("figures-week", "/admin?window=week").await;
}

async fn signing_keys(walk: &Walk<'_>, admin: &User) {
    let chromium = &walk.chromium;
    walk.sign_in(admin).await;
    let count = "INSERT INTO live_tokens (expires_at, kid, tokens)
                 SELECT CAST($1 AS BIGINT), kid, 120 FROM signing_keys WHERE state <> 'deleted'";
    let expires_at = walk.world.now().after(Duration::from_secs(600));
    let (db, now) = (walk.world.db().await, walk.world.now());
    execute!(db.writer(), count, expires_at).unwrap();
    let silent = "INSERT INTO verifiers (kind, name, user_agent, kids, revalidates, seen_at)
                  VALUES ('api', 'api-3:8080', '', 'none', TRUE, $1) ON CONFLICT DO NOTHING";
    execute!(db.writer(), silent, now.before(Duration::from_secs(7200))).unwrap();
    walk.visit("signing-keys", "/admin/keys").await;
    // The keys can be rotated once in five minutes.
    let button = walk.word("[popovertarget=rotation]", "[popovertarget=retirement-2]");
    let (action, name) = (walk.word("rotate", "retire"), walk.word("rotation", "retirement"));
    chromium.press(button).await;
    chromium.press("[popover]:popover-open summary").await;
    walk.check(&format!("signing-keys-{name}")).await;
    // The rotation has a box that must be checked, because a replica is silent.
    let box_or_summary = walk.word("[name=despite_unready]", "summary");
    chromium
        .press(&format!("[popover]:popover-open {box_or_summary}"))
        .await;
    let submit = format!("[popover]:popover-open form[action='/admin/keys/{action}'] button");
    let news = walk.word("can be rotated in", "zurückgezogen");
    walk.submit(&[], &submit, news).await;
    walk.check(&format!("signing-keys-after-{name}")).await;
}

async fn users(walk: &Walk<'_>, admin: &User) {
    let chromium = &walk.chromium;
    walk.sign_in(admin).await;
    let user = walk.world.user().await;
    walk.visit("users", "/admin/users").await;
    let begin = user.email.split('@').next().unwrap();
    walk.visit("users-found", &format!("/admin/users?search={begin}"))
        .await;
    walk.visit("users-none", "/admin/users?search=nobody%40example.org")
        .await;
    walk.visit("sessions", "/admin/sessions").await;
    chromium.press("[popovertarget^=dialog-]").await;
    walk.check("session-end").await;
    walk.visit("sessions-none", "/admin/sessions?user_id=1000000000")
        .await;
    let path = format!("/admin/users/{}", user.id);
    let changes = "INSERT INTO security_events (at, name, outcome, user_id, trace_id)
                   WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 11)
                   SELECT $1, 'user_enabled', 'success', $2, 'earlier' FROM numbers";
    let (db, now) = (walk.world.db().await, walk.world.now());
    execute!(
        db.writer(),
        changes,
        now.before(Duration::from_secs(7200)),
        user.id
    )
    .unwrap();
    let before = Cursor {
        created_at: now.before(Duration::from_secs(3600)),
        id: 0,
    };
    walk.visit("user-earlier-changes", &format!("{path}?changes={before}"))
        .await;
    let block = "INSERT INTO security_events (at, name, outcome, user_id, trace_id)
                 VALUES ($1, 'authn_login_lock', 'failure', $2, 'blocked')";
    execute!(db.writer(), block, now.before(Duration::from_secs(120)), user.id).unwrap();
    walk.visit("user", &path).await;
    chromium.press("[popovertarget=dialog-disable]").await;
    walk.check("user-disable").await;
    let disable = "[popover]:popover-open button.danger";
    walk.submit(&[], disable, CHANGED).await;
    walk.check("user-disabled").await;
    chromium.press("[popovertarget=dialog-set-password]").await;
    walk.submit(&[], disable, DONE).await;
    walk.check("initial-password").await;
}

/// The list of apps, the creation of one with its review and its secret, and its page.
async fn apps(walk: &Walk<'_>, admin: &User) {
    let chromium = &walk.chromium;
    walk.sign_in(admin).await;
    walk.visit("apps", "/admin/clients").await;
    walk.visit("apps-none", "/admin/clients?type=service&first_party=true")
        .await;
    walk.visit("new-app", "/admin/apps/new").await;
    chromium.press("input[value=web]").await;
    let fields = [("#name", "A shop"), ("#redirect_uris", "http://shop.test/cb")];
    walk.submit(&fields, SUBMIT, FAILED).await;
    walk.check_expecting("new-app-failed", 422).await;
    let right = [("#redirect_uris", "https://shop.test/cb")];
    walk.submit(&right, SUBMIT, "value=\"create\"").await;
    walk.check("new-app-review").await;
    walk.submit(&[], SUBMIT, DONE).await;
    walk.check("new-app-created").await;
    walk.submit(&[], "a.button", "client_created").await;
    walk.check("app").await;
    walk.submit(&[], "a[href^='/admin/token-preview']", "id=\"scope\"")
        .await;
    let user = walk.world.user().await;
    walk.submit(&[("#email", &user.email)], SUBMIT, "client_epoch")
        .await;
    walk.check("token-preview").await;
    walk.submit(&[("#email", "nobody@example.org")], SUBMIT, FAILED)
        .await;
    walk.check("token-preview-failed").await;
}

/// The list of consents, with many scopes, and the dialog that revokes one.
async fn connected_apps(walk: &Walk<'_>) {
    let user = walk.world.user().await;
    let app = walk.world.app().register();
    app.tokens(&user, "posts:read posts:write payments:read").await;
    walk.visit("connected-apps", "/admin/consents").await;
    walk.chromium.press("[popovertarget^=dialog-]").await;
    walk.check("connected-app-disconnect").await;
    walk.visit("connected-apps-none", "/admin/consents?user_id=1000000000")
        .await;
}
