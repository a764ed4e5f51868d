//! Many tabs that renew beside each other while answers are lost, and a copy of their cookie.

use super::{Site, state};
use serde_json::json;
use std::time::Duration;
use storage::fetch_one;
use tests::{Chromium, LossyProxy, Shape, SharedWorld, World, on_shapes};

const TABS: usize = 10;
/// The number of renewals of each tab.
const RENEWALS: usize = 20;
/// One of so many answers is lost.
const ONE_OF: usize = 20;
/// Longer than the retry window, in which a refresh may be repeated.
const RETRY_WINDOW_ENDS: Duration = Duration::from_secs(11);

/// Begins a renewal and does not wait for it.
const BEGIN: &str = "window.renewal = latchkey.start().catch(String)";
/// Waits for the renewal, and returns its outcome.
const END: &str = "return await window.renewal";
const RENEW: &str = "return await latchkey.start()";
/// Returns the user's address, which the API knows.
const ASK: &str = "return (await (await latchkey.fetch(args[0])).json()).email";

/// All tabs begin each renewal at once.
async fn ten_tabs_stay_signed_in_while_answers_are_lost(world: SharedWorld) {
    let (user, site) = (world.user().await, Site::start(&world, false).await);
    let proxy = LossyProxy::start(ONE_OF).await;
    let browser = Chromium::behind(&proxy).await;
    site.sign_in(&browser, &user).await;
    let mut tabs = vec![browser.window().await];
    while tabs.len() < TABS {
        tabs.push(browser.open_tab().await);
        browser.open(&site.origin).await;
        browser.expect(&state("signed in")).await;
    }
    for _ in 0..RENEWALS {
        for tab in &tabs {
            browser.turn_to(tab).await;
            browser.run(BEGIN, &[]).await;
        }
        for tab in &tabs {
            browser.turn_to(tab).await;
            assert_eq!(browser.run(END, &[]).await, "signed_in");
        }
    }
    let me = format!("{}/me", world.base());
    for tab in &tabs {
        browser.turn_to(tab).await;
        assert_eq!(browser.run(ASK, &[json!(me)]).await, json!(user.email));
    }
    assert_eq!(proxy.most_at_once(), 1, "refreshes at once");
    assert!(
        proxy.lost() >= TABS * RENEWALS / ONE_OF,
        "{} answers were lost",
        proxy.lost()
    );
    let query = "SELECT COUNT(*), COUNT(revoked_at) FROM refresh_families WHERE client_id = $1";
    let families = fetch_one!(world.db().await.reader(), (i64, i64), query, site.app.id.as_str()).unwrap();
    assert_eq!(families, (1, 0), "families, and those of them that ended");
}

/// The two browsers are the victim's, which renewed its tokens since, and the thief's.
async fn a_stolen_cookie_that_is_used_later_ends_the_session_of_both(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, site) = (world.user().await, Site::start(&world, false).await);
    let victim = Chromium::with_scripts().await;
    site.sign_in(&victim, &user).await;
    let name = format!("refresh_{}", site.app.id);
    let stolen = victim.cookie(&name).await;
    assert_eq!(victim.run(RENEW, &[]).await, "signed_in");
    assert_ne!(victim.cookie(&name).await, stolen);
    let access = victim.run("return await latchkey.accessToken()", &[]).await;
    world.advance(RETRY_WINDOW_ENDS);
    let thief = Chromium::with_scripts().await;
    let token_endpoint = format!("{}/token", world.base());
    thief.set_cookie(&token_endpoint, &name, &stolen).await;
    thief.open(&site.origin).await;
    thief.expect(&state("signed_out")).await;
    world.expect_revoked(access.as_str().unwrap()).await;
    assert_eq!(victim.run(RENEW, &[]).await, "signed_out");
    victim.expect(&state("invalid_grant")).await;
    for browser in [&thief, &victim] {
        let why = browser.run("return latchkey.ended.description", &[]).await;
        assert!(why.as_str().unwrap().contains("was used twice"), "{why}");
    }
}

on_shapes!(ten_tabs_stay_signed_in_while_answers_are_lost: ; long: sqlite Sqlite);
on_shapes!(a_stolen_cookie_that_is_used_later_ends_the_session_of_both: ; long: sqlite Sqlite, split Split);
