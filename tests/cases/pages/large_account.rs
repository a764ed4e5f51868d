//! The account page of a user with very many sessions and connected apps, and the page of this user for
//! administrators.

use super::expect_words;
use foundation::random;
use std::collections::BTreeSet;
use std::time::Duration;
use storage::execute;
use tests::{App, Browser, Page, User, World, on_one_shape};

/// The largest size of a page with all that it loads, in bytes over the wire.
const MAX_BYTES: usize = 60_000;
/// The number of sessions, which is the largest number that a user can have, and mostly of apps.
const COUNT: i64 = 100;
/// The largest number of apps that a page has.
const MAX_APPS: i64 = 1_000;
const SCOPE: &str =
    "posts:read posts:write comments:write payments:read payments:write profile:read openid profile email";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Adds sessions until the user has 100, and apps until there are this many. All sessions were used later
/// than the present one. Returns the only app that was used.
async fn fill(world: &World, user: &User, apps: i64) -> App {
    let app = world.app().register();
    app.tokens(user, SCOPE).await;
    let (db, now) = (world.db().await, world.now());
    let session = "INSERT INTO sessions (sid_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent, amr)
                   VALUES ($1, $2, $3, $4, $5, '2001:db8:1234:5678:9abc:def0:1234:5678', $6, 'pwd')";
    let (later, end) = (
        now.after(Duration::from_secs(1)),
        now.after(Duration::from_hours(2)),
    );
    for _ in 1..COUNT {
        let hash = random::token().hash();
        execute!(db.writer(), session, hash, user.id, now, later, end, FIREFOX).unwrap();
    }
    let clients = "INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                                        refresh_cookie, refresh_retry_window, epoch, created_at)
                   WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
                   SELECT clients.id || '-' || n, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope, first_party,
                          refresh_cookie, refresh_retry_window, epoch, created_at
                   FROM clients, numbers WHERE clients.id = $1";
    execute!(db.writer(), clients, app.id.as_str(), apps - 1).unwrap();
    let consents = "INSERT INTO consents (user_id, client_id, scope, granted_at, id)
                    SELECT $1, id, $3, $4, id FROM clients WHERE id LIKE $2 || '-%'";
    execute!(db.writer(), consents, user.id, app.id.as_str(), SCOPE, now).unwrap();
    db.close().await;
    app
}

/// Opens a page in a browser that accepts gzip, and expects that it has less than 60 kB over the wire, with
/// its stylesheet, its scripts and its icon. The server compresses these, but not the page: it has secrets,
/// and `no-store`.
async fn open(world: &World, browser: &Browser, path: &str) -> Page {
    let gzip = world.anyone().with("accept-encoding", "gzip");
    let call = browser.open_call(path).header("accept-encoding", "gzip");
    let reply = call.await.expect(200);
    assert!(!reply.has("content-encoding"), "{path}");
    let html = reply.text();
    let mut bytes = reply.body.len();
    let assets: BTreeSet<&str> = html
        .split('"')
        .filter(|text| text.starts_with("/assets/"))
        .collect();
    assert!(assets.len() >= 3, "{assets:?}");
    for asset in assets {
        bytes += gzip.get(asset).await.expect(200).body.len();
    }
    assert!(bytes < MAX_BYTES, "{path} has {bytes} bytes");
    let url = url::Url::parse(world.base()).unwrap().join(path).unwrap();
    Page { url, reply }
}

/// The values of the buttons of this name.
pub(super) fn buttons(page: &Page, name: &str) -> Vec<String> {
    let html = page.reply.text();
    let beginning = format!("<button type=\"submit\" name=\"{name}\" value=\"");
    let values = html.split(beginning.as_str()).skip(1);
    let values = values.map(|rest| rest.split('"').next().unwrap().to_owned());
    values.collect()
}

/// The ids of the sessions that the page of a user for administrators shows.
pub(super) fn sessions(page: &Page) -> Vec<String> {
    let html = page.reply.text();
    let items = html.split("<p id=\"session-").skip(1);
    let ids = items.map(|rest| rest.split('"').next().unwrap().to_owned());
    ids.collect()
}

/// The paths of the apps that this page shows.
fn apps(page: &Page) -> Vec<String> {
    let paths = page.links().into_iter().map(|link| link.path().to_owned());
    paths.filter(|path| path.starts_with("/admin/clients/")).collect()
}

/// The paths of the pages with the neighboring parts of the lists.
fn neighbors(page: &Page) -> Vec<String> {
    let links = page.links().into_iter();
    let links = links.filter(|link| matches!(link.fragment(), Some("sessions" | "apps")));
    links
        .map(|link| format!("{}?{}", link.path(), link.query().unwrap()))
        .collect()
}

/// Opens the page with this path and all parts of its lists. Returns the items of each list, which `items`
/// finds on a page.
async fn reachable<const N: usize>(
    world: &World,
    browser: &Browser,
    path: &str,
    items: impl Fn(&Page) -> [Vec<String>; N],
) -> [BTreeSet<String>; N] {
    let (mut found, mut seen) = ([(); N].map(|()| BTreeSet::new()), BTreeSet::new());
    let mut unseen = vec![path.to_owned()];
    while let Some(path) = unseen.pop() {
        if seen.insert(path.clone()) {
            let page = open(world, browser, &path).await;
            for (shown, found) in items(&page).into_iter().zip(&mut found) {
                found.extend(shown);
            }
            unseen.extend(neighbors(&page));
        }
    }
    found
}

/// Expects the redirect of a form to this path with its query, and follows it.
pub(super) async fn come_back(browser: &mut Browser, done: &Page, path: &str) -> Page {
    assert_eq!(done.reply.status, 303, "{}", done.reply);
    assert_eq!(done.reply.header("location"), path, "{}", done.reply);
    browser.open(path).await
}

async fn every_session_and_app_is_reachable_on_small_pages(world: World) {
    let user = world.user().await;
    let used = fill(&world, &user, COUNT).await;
    for language in ["en", "de"] {
        let browser = user.browser().in_language(language);
        let found = reachable(&world, &browser, "/account", |page| {
            ["session", "app"].map(|name| buttons(page, name))
        });
        let found = found.await;
        // The session of the browser has no button.
        assert_eq!(found.map(|values| values.len()), [99, 100], "{language}");
    }
    let mut browser = user.browser();
    let first = browser.open("/account").await;
    expect_words(&first, 200, "this browser");
    expect_words(&first, 200, "Shown here: 1 to 20 of 100 .");
    assert_eq!(buttons(&first, "app")[0], used.id);
    assert!(!first.reply.text().contains("disconnect some"), "{}", first.reply);

    let last = browser.open("/account?sessions=5").await;
    expect_words(&last, 200, "Shown here: 81 to 100 of 100 .");
    let ended = buttons(&last, "session").pop().unwrap();
    let done = browser.submit(&last, &[("session", &ended)]).await;
    let page = come_back(&mut browser, &done, "/account?sessions=5").await;
    expect_words(&page, 200, "Shown here: 81 to 99 of 99 .");
    let last = browser.open("/account?apps=5").await;
    let disconnected = buttons(&last, "app").pop().unwrap();
    let done = browser.submit(&last, &[("app", &disconnected)]).await;
    let page = come_back(&mut browser, &done, "/account?apps=5").await;
    expect_words(&page, 200, "Shown here: 81 to 99 of 99 .");
    let grants = user.get("/me/grants").await.expect(200).json();
    assert_eq!(grants["items"].as_array().unwrap().len(), 99);
}

async fn a_part_that_does_not_exist_is_the_first_or_the_last(world: World) {
    let user = world.user().await;
    fill(&world, &user, COUNT).await;
    let mut browser = user.browser();
    for (query, words) in [
        ("sessions=x&apps=-1", "Shown here: 1 to 20 of 100 ."),
        ("sessions=0&apps=", "Shown here: 1 to 20 of 100 ."),
        ("sessions=6&apps=6", "Shown here: 81 to 100 of 100 ."),
        (
            "sessions=99999999999999999999&apps=5",
            "Shown here: 81 to 100 of 100 .",
        ),
    ] {
        expect_words(&browser.open(&format!("/account?{query}")).await, 200, words);
    }
}

async fn administrators_reach_all_of_them_on_small_pages_too(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    fill(&world, &user, COUNT).await;
    let path = format!("/admin/users/{}", user.id);
    for language in ["en", "de"] {
        let browser = admin.browser().in_language(language);
        let page = open(&world, &browser, &path).await;
        let shown = [sessions(&page).len(), apps(&page).len()];
        assert_eq!(shown, [20, 20], "{}", page.reply);
        let found = reachable(&world, &browser, &path, |page| [sessions(page), apps(page)]).await;
        assert_eq!(found.map(|items| items.len()), [100, 100], "{language}");
    }
    let first = admin.browser().open(&path).await;
    let effect = "This ends 100 sessions and 1 refresh token , and the access of 100 connected apps and of";
    expect_words(&first, 200, effect);
}

async fn the_pages_say_that_further_apps_are_not_shown(world: World) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    fill(&world, &user, MAX_APPS + 1).await;
    let deletion = user.browser().open("/account/deletion").await;
    expect_words(&deletion, 200, "The access of more than 1000 apps");
    let own = user.browser().open("/account").await;
    expect_words(&own, 200, "If you have more, disconnect some to see the others.");
    let mut browser = admin.browser();
    let page = browser.open(&format!("/admin/users/{}", user.id)).await;
    expect_words(&page, 200, "apps are shown here. All connected apps of this user");
    let effect = "1 refresh token , and the access of at least 1000 connected apps and of the apps";
    expect_words(&page, 200, effect);
    let list = browser
        .open(&format!("/admin/consents?user_id={}", user.id))
        .await;
    assert!(page.links().contains(&list.url), "{}", page.reply);
    expect_words(&list, 200, "Next page");
}

on_one_shape!(
    every_session_and_app_is_reachable_on_small_pages,
    a_part_that_does_not_exist_is_the_first_or_the_last,
    administrators_reach_all_of_them_on_small_pages_too,
    the_pages_say_that_further_apps_are_not_shown,
);
