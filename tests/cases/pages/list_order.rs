//! The order of the lists on the pages for administrators.

use super::expect_words;
use super::large_account::buttons;
use tests::{SharedWorld, on_every_shape};

async fn every_list_has_a_field_for_its_order(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let (mut browser, mut german) = (admin.browser(), admin.browser().in_language("de"));
    for (path, default, other) in [
        ("/admin/users", "asc", "desc"),
        ("/admin/clients", "asc", "desc"),
        ("/admin/sessions", "desc", "asc"),
        ("/admin/consents", "asc", "desc"),
        ("/admin/keys", "desc", "asc"),
        ("/admin/events", "desc", "asc"),
    ] {
        let reversed = format!("?order={other}");
        for (query, chosen) in [("", default), ("?order=up", default), (reversed.as_str(), other)] {
            let page = browser.open(&format!("{path}{query}")).await;
            let html = page.reply.text();
            let option = format!("<option value=\"{chosen}\" selected>");
            assert!(html.contains(&option), "{path}{query}: {}", page.reply);
            assert!(html.contains("for=\"order\">Order<"), "{path}: {}", page.reply);
        }
        let page = german.open(path).await;
        let label = "for=\"order\">Reihenfolge<";
        assert!(page.reply.text().contains(label), "{path}: {}", page.reply);
    }
    // The groups of refusals are ordered by their size.
    let grouped = browser.open("/admin/events?view=refusals").await;
    assert!(!grouped.asks_for("order"), "{}", grouped.reply);
    // The form keeps the state of the keys.
    let of_state = browser.open("/admin/keys?state=active").await;
    let state = "<input type=\"hidden\" name=\"state\" value=\"active\"><div><label for=\"order\">";
    assert!(of_state.reply.text().contains(state), "{}", of_state.reply);
    // The command and the call list the same.
    expect_words(&of_state, 200, "keys list --state=active --order=desc");
    expect_words(&of_state, 200, "/admin/keys?state=active");
    let listed = world.cli(&["keys", "list", "--state=active", "--order=desc", "--json"], "");
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

async fn the_pages_of_a_list_keep_its_order(world: SharedWorld) {
    let (admin, user) = (world.user_with_role("admin").await, world.user().await);
    world.start_sessions(&user, 20).await;
    let mut browser = admin.browser();
    let list = format!("/admin/sessions?user_id={}", user.id);
    let newest = buttons(&browser.open(&list).await, "ended");
    let first = browser.open(&format!("{list}&order=asc")).await;
    let oldest = buttons(&first, "ended");
    assert_eq!([newest.len(), oldest.len()], [20, 20], "{}", first.reply);
    assert!(!newest.contains(&oldest[0]), "{newest:?} {oldest:?}");
    let links = first.links();
    let next = links
        .iter()
        .find(|link| link.query().is_some_and(|query| query.contains("cursor=")));
    let last = browser.open(next.unwrap().as_str()).await;
    assert_eq!(buttons(&last, "ended"), newest[..1]);
}

on_every_shape!(
    every_list_has_a_field_for_its_order,
    the_pages_of_a_list_keep_its_order,
);
