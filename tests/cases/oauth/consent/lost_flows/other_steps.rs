//! The code that follows the password, and the passkey, in flows that cannot go on.

use super::super::{first_page, follow};
use super::{altered, expect_lost, expect_lost_after, open};
use serde_json::json;
use std::time::Duration;
use tests::{
    App, Authenticator, Browser, PASSWORD, Page, Passkey, PasskeyOptions, Shape, SharedWorld, User, World,
    on_every_shape, parameter,
};

/// The time after which a flow has expired.
const FLOW_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Enters the right password of an account with two-step sign-in. Returns the page for the code.
async fn enter_password(browser: &mut Browser, page: &Page, user: &User) -> Page {
    let fields = [("email", user.email.as_str()), ("password", PASSWORD)];
    let entered = browser.submit(page, &fields).await;
    let page = follow(browser, entered.location().unwrap().as_str()).await;
    assert!(page.asks_for("otp"), "{}", page.reply);
    page
}

/// Opens the page for the code in a flow, and submits a right code.
async fn expect_code_lost_in(browser: &mut Browser, flow: &str, user: &User, code: &str) {
    const PATH: &str = "/signin/second-step";
    let page = open(browser, PATH, flow).await;
    expect_lost(&page);
    assert!(!page.asks_for("otp"), "{}", page.reply);
    let id = user.id.to_string();
    expect_lost_after(browser, PATH, flow, &[("otp", code), ("user", &id)]).await;
}

/// Answers the challenge of the sign-in page outside a flow, as if it were that of the flow.
async fn expect_passkey_lost_in(browser: &mut Browser, flow: &str, passkey: &Passkey) {
    let page = browser.open("/signin").await;
    let state = page.hidden("state").unwrap();
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    let fields = [("state", state.as_str()), ("credential", &credential)];
    expect_lost_after(browser, "/signin/passkey", flow, &fields).await;
}

/// Opens the address to which the lost flow's page links. Expects that the browser, in which nobody is signed
/// in, can sign in there.
async fn expect_led_to_sign_in(browser: &mut Browser) {
    let page = follow(browser, "/account").await;
    assert!(page.asks_for("password"), "{}", page.reply);
}

/// Expects the consent page, and refuses. Then the flow is finished.
async fn refuse(browser: &mut Browser, signed_in: &Page) {
    let consent = follow(browser, signed_in.location().unwrap().as_str()).await;
    let denied = browser.submit(&consent, &[("decision", "deny")]).await;
    let redirect = denied.location().unwrap();
    assert_eq!(
        parameter(&redirect, "error").as_deref(),
        Some("access_denied"),
        "{redirect}"
    );
}

/// A browser in which another flow of this app was begun.
async fn other_browser(world: &World, app: &App) -> Browser {
    let mut other = world.browser();
    first_page(&mut other, app, "posts:read").await;
    other
}

/// The page for the code outside a flow, for a browser in which the password was entered.
async fn open_second_step(browser: &mut Browser) -> Page {
    let page = browser.open("/signin/second-step").await;
    assert_eq!(page.reply.status, 200, "{}", page.reply);
    page
}

async fn no_code_is_used_for_a_flow_that_cannot_go_on(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let codes = Authenticator::enable(&world, &user).await.recovery_codes;
    let mut browser = world.browser();
    let sign_in = first_page(&mut browser, &app, "posts:read").await;
    let page = enter_password(&mut browser, &sign_in, &user).await;
    let flow = page.hidden("flow").unwrap();
    let mut other = other_browser(&world, &app).await;
    // The first step is right there too, so that only the flow is missing.
    other.set_cookie("first_step", browser.cookie("first_step").unwrap());
    for flow in [flow.as_str(), &altered(&flow), "garbage", "device"] {
        expect_code_lost_in(&mut world.browser(), flow, &user, &codes[0]).await;
        expect_code_lost_in(&mut other, flow, &user, &codes[0]).await;
    }
    expect_led_to_sign_in(&mut other).await;
    expect_code_lost_in(&mut browser, &altered(&flow), &user, &codes[0]).await;
    // The flow itself goes on, with the same code.
    let signed_in = browser.submit(&page, &[("otp", &codes[0])]).await;
    refuse(&mut browser, &signed_in).await;
    expect_code_lost_in(&mut browser, &flow, &user, &codes[1]).await;
    let body = json!({ "email": user.email, "password": PASSWORD, "otp": codes[1] });
    world.log_in_with(&body).await;
}

async fn no_passkey_signs_in_for_a_flow_that_cannot_go_on(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    let mut browser = world.browser();
    let page = first_page(&mut browser, &app, "posts:read").await;
    let flow = page.hidden("flow").unwrap();
    let mut other = other_browser(&world, &app).await;
    for flow in [flow.as_str(), &altered(&flow), "garbage", "device"] {
        expect_passkey_lost_in(&mut world.browser(), flow, &passkey).await;
        expect_passkey_lost_in(&mut other, flow, &passkey).await;
    }
    expect_led_to_sign_in(&mut other).await;
    expect_passkey_lost_in(&mut browser, &altered(&flow), &passkey).await;
    // The flow itself goes on, with the same passkey.
    let credential = passkey.assertion(&PasskeyOptions::of_page(&page));
    let signed_in = browser.submit(&page, &[("credential", &credential)]).await;
    refuse(&mut browser, &signed_in).await;
    browser.delete_cookie("sid");
    expect_passkey_lost_in(&mut browser, &flow, &passkey).await;
    expect_led_to_sign_in(&mut browser).await;
}

/// The password was entered a minute before the flow expired, so that the code could still follow it.
async fn neither_a_code_nor_a_passkey_is_taken_for_an_expired_flow(shape: Shape) {
    const MINUTE: Duration = Duration::from_secs(60);
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let passkey = world.add_passkey(&mut user.browser()).await;
    let codes = Authenticator::enable(&world, &user).await.recovery_codes;
    let mut browser = world.browser();
    let sign_in = first_page(&mut browser, &app, "posts:read").await;
    world.advance(FLOW_LIFETIME - MINUTE);
    let page = enter_password(&mut browser, &sign_in, &user).await;
    let flow = page.hidden("flow").unwrap();
    world.advance(MINUTE);
    expect_code_lost_in(&mut browser, &flow, &user, &codes[0]).await;
    expect_passkey_lost_in(&mut browser, &flow, &passkey).await;
    // Outside the flow, both sign in.
    let again = open_second_step(&mut browser).await;
    let signed_in = browser.submit(&again, &[("otp", &codes[0])]).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
    let signed_in = passkey.sign_in(&mut world.browser()).await;
    assert_eq!(signed_in.reply.status, 303, "{}", signed_in.reply);
}

on_every_shape!(
    no_code_is_used_for_a_flow_that_cannot_go_on,
    no_passkey_signs_in_for_a_flow_that_cannot_go_on,
    neither_a_code_nor_a_passkey_is_taken_for_an_expired_flow,
);
