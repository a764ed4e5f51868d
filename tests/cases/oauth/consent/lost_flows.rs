//! Sign-in pages of flows that cannot go on, and of flows in which another tab is ahead.

mod other_steps;

use super::{first_page, follow};
use tests::{Browser, Page, Shape, SharedWorld, User, World, on_every_shape, parameter};

const PAGES: [&str; 2] = ["/signin", "/signup"];

/// Expects a page that says that the flow is lost, asks for nothing and leads on.
#[track_caller]
fn expect_lost(page: &Page) {
    assert_eq!(page.reply.status, 400, "{}", page.reply);
    page.expect_page_within_origin();
    assert!(!page.asks_for("password"), "{}", page.reply);
    assert!(page.visible_text().contains("has expired"), "{}", page.reply);
    assert!(
        page.links().iter().any(|link| link.path() == "/account"),
        "{}",
        page.reply
    );
}

/// Opens the pages of a flow in a browser, and submits their forms.
async fn expect_lost_in(browser: &mut Browser, flow: &str, user: &User) {
    for path in PAGES {
        expect_lost(&open(browser, path, flow).await);
        let fields = [("email", user.email.as_str()), ("password", &user.password)];
        expect_lost_after(browser, path, flow, &fields).await;
    }
}

async fn open(browser: &mut Browser, path: &str, flow: &str) -> Page {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("flow", flow)
        .finish();
    browser.open(&format!("{path}?{query}")).await
}

/// Submits a form of a flow. Expects that the flow is lost, and that nobody was signed in.
async fn expect_lost_after(browser: &mut Browser, path: &str, flow: &str, fields: &[(&str, &str)]) {
    let form = browser.open("/forgot").await;
    let csrf = form.hidden("csrf").unwrap();
    let before = browser.cookie("sid").map(str::to_owned);
    let fields = [fields, &[("csrf", csrf.as_str()), ("flow", flow)]].concat();
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let fields: Vec<_> = fields.collect();
    expect_lost(&browser.post(&form.url.join(path).unwrap(), &fields).await);
    assert_eq!(browser.cookie("sid").map(str::to_owned), before);
}

/// A flow that nobody has begun, which looks like this one.
fn altered(flow: &str) -> String {
    let mut altered = flow.to_owned();
    altered.replace_range(20..21, if flow[20..].starts_with('A') { "B" } else { "A" });
    altered
}

async fn no_password_is_asked_for_a_flow_that_cannot_go_on(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = world.browser();
    let page = first_page(&mut browser, &app, "posts:read").await;
    let flow = page.hidden("flow").unwrap();
    let mut other = world.browser();
    first_page(&mut other, &app, "posts:read").await;
    let altered = altered(&flow);
    for flow in [flow.as_str(), &altered, "garbage", "device"] {
        expect_lost_in(&mut world.browser(), flow, &user).await;
        expect_lost_in(&mut other, flow, &user).await;
    }
    expect_lost_in(&mut browser, &altered, &user).await;
    // The link leads somebody who is signed out to the sign-in page outside a flow.
    assert!(follow(&mut browser, "/account").await.asks_for("password"));
    // The flow itself goes on.
    let fields = [("email", user.email.as_str()), ("password", &user.password)];
    let signed_in = browser.submit(&page, &fields).await;
    let consent = follow(&mut browser, signed_in.location().unwrap().as_str()).await;
    browser.submit(&consent, &[("decision", "deny")]).await;
    expect_lost_in(&mut browser, &flow, &user).await;
}

async fn no_password_is_asked_for_an_expired_flow(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let mut browser = world.browser();
    let page = first_page(&mut browser, &app, "posts:read").await;
    world.advance(std::time::Duration::from_secs(30 * 60));
    expect_lost_in(&mut browser, &page.hidden("flow").unwrap(), &user).await;
}

async fn no_password_is_asked_for_a_device_that_nobody_can_connect(shape: Shape) {
    let setup = World::builder(shape).flag("--device-authorization", "off");
    let world = setup.start().await;
    let user = world.user().await;
    expect_lost_in(&mut world.browser(), "device:", &user).await;
}

/// Two tabs show the sign-in page, of one flow or of two.
async fn an_old_form_continues_after_a_sign_in_on_another_tab(world: SharedWorld) {
    let app = world.app().register();
    for is_same_flow in [true, false] {
        let user = world.user().await;
        let mut browser = world.browser();
        let old = first_page(&mut browser, &app, "posts:read").await;
        let new = match is_same_flow {
            true => old.clone(),
            false => first_page(&mut browser, &app, "posts:read").await,
        };
        let fields = [("email", user.email.as_str()), ("password", &user.password)];
        let signed_in = browser.submit(&new, &fields).await;
        let ahead = follow(&mut browser, signed_in.location().unwrap().as_str()).await;
        assert!(ahead.asks_for("decision"), "{}", ahead.reply);
        let former = browser.cookie("sid").unwrap().to_owned();
        let signed_in = browser.submit(&old, &fields).await;
        assert_ne!(browser.cookie("sid"), Some(former.as_str()));
        let consent = follow(&mut browser, signed_in.location().unwrap().as_str()).await;
        assert!(consent.asks_for("decision"), "{}", consent.reply);
        // The page that was ahead goes on too.
        for page in [Some(ahead), (!is_same_flow).then_some(consent)]
            .into_iter()
            .flatten()
        {
            let allowed = browser.submit(&page, &[("decision", "allow")]).await;
            let redirect = allowed.location().unwrap();
            assert!(parameter(&redirect, "code").is_some(), "{redirect}");
        }
    }
}

on_every_shape!(
    no_password_is_asked_for_a_flow_that_cannot_go_on,
    no_password_is_asked_for_an_expired_flow,
    no_password_is_asked_for_a_device_that_nobody_can_connect,
    an_old_form_continues_after_a_sign_in_on_another_tab,
);
