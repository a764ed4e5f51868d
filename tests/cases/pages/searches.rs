//! Searches for users and apps by the beginning of their addresses and names, among many of which few fulfill
//! a further condition.

use super::events::search::counts;
use super::expect_words;
use serde_json::Value;
use storage::execute;
use tests::{User, World, on_every_shape};

/// Returns the number of items on the last page of a list, and on each page that leads back from there.
async fn counts_back(admin: &User, list: &str) -> Vec<usize> {
    let (mut page, mut counts) = (admin.get(list).await.expect(200).json(), Vec::new());
    while let Some(next) = page["links"]["next"].as_str().map(str::to_owned) {
        page = admin.get(&next).await.expect(200).json();
    }
    loop {
        counts.push(page["items"].as_array().unwrap().len());
        match page["links"]["prev"].as_str().map(str::to_owned) {
            Some(prev) => page = admin.get(&prev).await.expect(200).json(),
            None => return counts,
        }
    }
}

/// An index has the addresses, or the names. A page searches 10,000 of them.
async fn a_page_searches_a_bounded_number_of_users_and_apps(world: World) {
    let (admin, db, now) = (world.user_with_role("admin").await, world.db().await, world.now());
    let users = "
        INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch, password_change_required,
                           created_at, updated_at)
        WITH RECURSIVE numbers (n) AS (SELECT 100001 UNION ALL SELECT n + 1 FROM numbers WHERE n < 124000)
        SELECT 'many' || n || '@example.org', 'many' || n || '@example.org', TRUE,
               CASE WHEN n = 124000 THEN 'editor' ELSE 'user' END, '', 0, FALSE, $1, $1
        FROM numbers";
    execute!(db.writer(), users, now).unwrap();
    // Apps of the same name are sorted by their ids.
    let apps = "
        INSERT INTO clients (id, name, type, redirect_uris, post_logout_redirect_uris, scope, default_scope,
                             first_party, refresh_cookie, refresh_retry_window, epoch, created_at)
        WITH RECURSIVE numbers (n) AS (SELECT 100001 UNION ALL SELECT n + 1 FROM numbers WHERE n < 124000)
        SELECT 'many' || n, 'Many of one name', CASE WHEN n = 124000 THEN 'service' ELSE 'web' END, '[]', '[]', '', '',
               FALSE, FALSE, 0, 0, $1
        FROM numbers";
    execute!(db.writer(), apps, now).unwrap();
    for (list, shown) in [
        ("/admin/users?search=many&role=editor", "many124000@example.org"),
        ("/admin/clients?search=many+of&type=service", "many124000"),
    ] {
        assert_eq!(counts(&admin, list).await, [0, 0, 1], "{list}");
        assert_eq!(
            counts(&admin, &format!("{list}&order=desc")).await,
            [1, 0, 0],
            "{list}"
        );
        let mut browser = admin.browser();
        let mut page = browser.open(list).await;
        for _ in 0..2 {
            expect_words(&page, 200, "No match has been found so far.");
            let links = page.links().into_iter();
            let is_next = |query: &str| query.contains("cursor=") && !query.contains("dir=prev");
            let mut next = links.filter(|link| link.query().is_some_and(is_next));
            page = browser.open(next.next().unwrap().as_str()).await;
        }
        expect_words(&page, 200, shown);
        assert_eq!(counts_back(&admin, list).await, [1, 0, 0, 0], "{list}");
    }
    let listed = ["users", "list", "--search=many", "--role=editor", "--json"];
    let listed = world.cli(&listed, "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    // After the last user of a page is deleted, the list begins again.
    let first = admin.get("/admin/users?search=many").await.expect(200).json();
    let last = first["items"][19]["id"].as_i64().unwrap();
    let delete = "UPDATE users SET email = '', email_key = '@deleted-' || id, deleted_at = $1 WHERE id = $2";
    execute!(db.writer(), delete, now, last).unwrap();
    let next = first["links"]["next"].as_str().unwrap();
    let next = admin.get(next).await.expect(200).json();
    assert_eq!(next["items"][0], first["items"][0], "{next}");
    assert_eq!(next["links"]["prev"], Value::Null, "{next}");
}

on_every_shape!(a_page_searches_a_bounded_number_of_users_and_apps);
