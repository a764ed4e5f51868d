//! Many tabs that renew beside each other while answers are lost, and a copy of their cookie.

use super::{Site, state};
use serde_json::json;
use std::time::Duration;
use storage::fetch_one;
use tests::{Chromium, LossyProxy, Shape, SharedWorld, User, World, on_shapes};

const TABS: usize = 10;
/// The number of renewals of each tab.
const RENEWALS: usize = 20;
/// One of so many answers is lost.
const ONE_OF: usize = 20;
/// The time for which a refresh is under way, so that two at once overlap.
const DELAY: Duration = Duration::from_millis(50);
/// Longer than all tabs need to begin, so that they send the same cookie without Web Locks.
const DELAY_WITHOUT_LOCKS: Duration = Duration::from_secs(1);
/// Longer than the retry window, in which a refresh may be repeated.
const RETRY_WINDOW_ENDS: Duration = Duration::from_secs(11);

/// Takes Web Locks away from a page.
const REMOVE_LOCKS: &str = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })";
/// Returns a time before which all tabs are told to begin.
const SOON: &str = "return Date.now() + 1000";
/// Begins a renewal at this time and does not wait for it.
const BEGIN: &str = "
    const [at] = args;
    const begin = new Promise(resolve => setTimeout(resolve, at - Date.now()));
    window.renewal = begin.then(() => latchkey.start()).catch(String);
";
/// Waits for the renewal, and returns its outcome.
const END: &str = "return await window.renewal";
const RENEW: &str = "return await latchkey.start()";
/// Returns the user's address, which the API knows.
const ASK: &str = "return (await (await latchkey.fetch(args[0])).json()).email";

/// The tabs of one user.
struct Tabs<'w> {
    world: &'w World,
    user: User,
    site: Site,
    browser: Chromium,
    all: Vec<String>,
}

impl<'w> Tabs<'w> {
    /// Signs a user in and opens all tabs. Their pages run this script first.
    async fn open(world: &'w World, proxy: &LossyProxy, script: &str) -> Self {
        let (user, site) = (world.user().await, Site::start(world, false).await);
        let browser = Chromium::behind(proxy).await;
        browser.add_script(script).await;
        site.sign_in(&browser, &user).await;
        let mut all = vec![browser.window().await];
        while all.len() < TABS {
            all.push(browser.open_tab().await);
            browser.add_script(script).await;
            browser.open(&site.origin).await;
            browser.expect(&state("signed in")).await;
        }
        Self {
            world,
            user,
            site,
            browser,
            all,
        }
    }

    /// Renews the tokens of all tabs, which begin at the same moment.
    async fn renew(&self) {
        let at = [self.browser.run(SOON, &[]).await];
        for tab in &self.all {
            self.browser.turn_to(tab).await;
            self.browser.run(BEGIN, &at).await;
        }
        for tab in &self.all {
            self.browser.turn_to(tab).await;
            assert_eq!(self.browser.run(END, &[]).await, "signed_in");
        }
    }

    /// Expects that each token is valid, and that the session has neither ended nor been replaced by another.
    async fn expect_one_session(&self) {
        let me = json!(format!("{}/me", self.world.base()));
        for tab in &self.all {
            self.browser.turn_to(tab).await;
            let email = self.browser.run(ASK, std::slice::from_ref(&me)).await;
            assert_eq!(email, json!(self.user.email));
        }
        let query = "SELECT COUNT(*), COUNT(revoked_at) FROM refresh_families WHERE client_id = $1";
        let db = self.world.db().await;
        let families = fetch_one!(db.reader(), (i64, i64), query, self.site.app.id.as_str()).unwrap();
        assert_eq!(families, (1, 0), "families, and those of them that ended");
    }
}

async fn ten_tabs_stay_signed_in_while_answers_are_lost(world: SharedWorld) {
    let proxy = LossyProxy::start(DELAY, ONE_OF).await;
    let tabs = Tabs::open(&world, &proxy, "").await;
    for _ in 0..RENEWALS {
        tabs.renew().await;
    }
    tabs.expect_one_session().await;
    assert_eq!(proxy.most_at_once(), 1, "refreshes at once");
    assert!(
        proxy.lost() >= TABS * RENEWALS / ONE_OF,
        "{} answers were lost",
        proxy.lost()
    );
}

/// Shows that the locks, and not the browser or the proxy, order the refreshes of the test above.
async fn ten_tabs_without_web_locks_renew_at_once_and_stay_signed_in(world: SharedWorld) {
    let proxy = LossyProxy::start(DELAY_WITHOUT_LOCKS, usize::MAX).await;
    let tabs = Tabs::open(&world, &proxy, REMOVE_LOCKS).await;
    tabs.renew().await;
    tabs.expect_one_session().await;
    assert!(proxy.most_at_once() > 1, "the refreshes came one at a time");
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
on_shapes!(ten_tabs_without_web_locks_renew_at_once_and_stay_signed_in: ; long: sqlite Sqlite);
on_shapes!(a_stolen_cookie_that_is_used_later_ends_the_session_of_both: ; long: sqlite Sqlite, split Split);
