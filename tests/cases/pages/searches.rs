//! Searches for users and apps by the beginning of their addresses and names, among many of which few fulfill
//! a further condition.

use super::events::search::counts;
use super::expect_words;
use storage::execute;
use tests::{World, on_every_shape};

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
            let mut next = links.filter(|link| link.query().is_some_and(|query| query.contains("cursor=")));
            page = browser.open(next.next().unwrap().as_str()).await;
        }
        expect_words(&page, 200, shown);
    }
    let listed = ["users", "list", "--search=many", "--role=editor", "--json"];
    let listed = world.cli(&listed, "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

on_every_shape!(a_page_searches_a_bounded_number_of_users_and_apps);
