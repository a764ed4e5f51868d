//! The changes on the pages of users and apps.

use super::{expect_changed, path_of};
use crate::pages::expect_words;
use std::time::Duration;
use storage::execute;
use tests::{SharedWorld, on_every_shape};

async fn sign_ins_hide_no_change_of_the_account(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let mut browser = admin.browser();
    expect_changed(&mut browser, &user, "role-editor", &[]).await;
    let (db, later) = (world.db().await, world.now().after(Duration::from_secs(1)));
    let sign_ins = "INSERT INTO security_events (at, name, outcome, user_id, trace_id)
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 11)
                    SELECT $1, 'authn_login_success', 'success', $2, 'later' FROM numbers";
    execute!(db.writer(), sign_ins, later, user.id).unwrap();
    let page = browser.open(&path_of(&user)).await;
    expect_words(&page, 200, "privilege_permissions_changed");
    expect_words(&page, 200, &format!("by {} · User → Editor", admin.email));
}

async fn older_changes_are_on_further_pages(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    let app = world.app().register();
    let (db, begin) = (world.db().await, world.now().after(Duration::from_secs(1)));
    let changes = "INSERT INTO security_events (at, name, outcome, user_id, client_id, trace_id, detail)
                   WITH RECURSIVE numbers (n) AS (SELECT 101 UNION ALL SELECT n + 1 FROM numbers WHERE n < 121)
                   SELECT $1 + CAST(n / 4 AS BIGINT), $2, 'success', $3, $4, 'trace', 'change ' || n FROM numbers";
    execute!(db.writer(), changes, begin, "user_enabled", user.id, None::<&str>).unwrap();
    execute!(
        db.writer(),
        changes,
        begin,
        "client_enabled",
        None::<i64>,
        app.id.as_str()
    )
    .unwrap();
    for path in [path_of(&user), format!("/admin/clients/{}", app.id)] {
        let (mut browser, mut url, mut seen) = (admin.browser(), path.clone(), Vec::new());
        for page_number in 1..=3 {
            let page = browser.open(&url).await;
            let text = page.visible_text();
            let (_, history) = text.split_once("Changes so far").unwrap();
            let (history, _) = history.split_once("Newest events").unwrap();
            seen.extend((101..=121).filter(|n| history.contains(&format!("change {n} "))));
            assert_eq!(
                history.contains("Newest changes"),
                page_number > 1,
                "{}",
                page.reply
            );
            assert_eq!(
                history.contains("Older changes"),
                page_number < 3,
                "{}",
                page.reply
            );
            let mut links = page.links().into_iter();
            let older = links.rfind(|link| link.fragment() == Some("history"));
            older.unwrap().as_str().clone_into(&mut url);
        }
        seen.sort_unstable();
        assert_eq!(seen, (101..=121).collect::<Vec<_>>(), "{path}");
        expect_words(
            &browser.open(&format!("{path}?changes=x")).await,
            200,
            "change 121",
        );
    }
}

on_every_shape!(
    older_changes_are_on_further_pages,
    sign_ins_hide_no_change_of_the_account,
);
