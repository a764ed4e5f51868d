//! The way back to a page with a selection, which an administrator opened before the sign-in.

use super::{expect_redirect, sign_in_at};
use tests::{Browser, Page, SharedWorld, on_every_shape};
use url::Url;

/// Returns the path and the query of a redirect.
fn target(page: &Page) -> String {
    let url: Url = page.location().unwrap();
    let query = url.query().map(|query| format!("?{query}"));
    format!("{}{}", url.path(), query.unwrap_or_default())
}

/// Follows the redirect after a sign-in. Expects the page with this path and query.
async fn expect_back(browser: &mut Browser, signed_in: &Page, expected: &str) {
    let once_more = browser.open(&target(signed_in)).await;
    assert_eq!(target(&once_more), expected, "{}", once_more.reply);
    let page = browser.open(expected).await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
}

async fn a_selection_survives_the_sign_in(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let long = format!("/admin/events?detail={}", "x".repeat(600));
    for (path, requested, expected) in [
        ("/admin", "/admin?window=week", "/admin?window=week"),
        (
            "/admin/keys",
            "/admin/keys?state=active",
            "/admin/keys?state=active",
        ),
        (
            "/admin/consents",
            "/admin/consents?client_id=a%26b&user_id=",
            "/admin/consents?client_id=a%26b",
        ),
        (
            "/admin/events",
            "/admin/events?name=&since=2026-11-28T16:05&view=refusals",
            "/admin/events?since=2026-11-28T16%3A05&view=refusals",
        ),
        ("/admin/events", &long, "/admin/events"),
    ] {
        let mut browser = world.browser();
        let sent = browser.open(requested).await;
        expect_redirect(&sent, "/signin");
        let sign_in = browser.open(&target(&sent)).await;
        let fields = [("email", admin.email.as_str()), ("password", &admin.password)];
        let signed_in = browser.submit(&sign_in, &fields).await;
        expect_redirect(&signed_in, path);
        expect_back(&mut browser, &signed_in, expected).await;
    }
}

/// The link to the sign-in that precedes a change leads back, too.
async fn a_selection_survives_another_sign_in(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let path = format!("/admin/sessions?user_id={}", user.id);
    let (mut browser, _) = sign_in_at(&world, &admin, "/admin/sessions").await;
    world.age_sign_ins_of(&admin).await;
    let stale = browser.open(&path).await;
    let mut links = stale.links().into_iter();
    let sign_in = links.find(|link| link.path() == "/signin").unwrap();
    let sign_in = browser.open(sign_in.as_str()).await;
    let signed_in = browser.submit(&sign_in, &[("password", &admin.password)]).await;
    expect_back(&mut browser, &signed_in, &path).await;
}

on_every_shape!(
    a_selection_survives_the_sign_in,
    a_selection_survives_another_sign_in
);
