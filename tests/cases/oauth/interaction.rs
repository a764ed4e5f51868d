//! The interaction that an authorization request demands: `prompt`, `max_age` and `login_hint` (OpenID
//! Connect Core §3.1.2.1).

use super::consent::follow;
use std::time::Duration;
use tests::{App, Authorization, Browser, Page, Shape, SharedWorld, User, World, on_every_shape, parameter};

const MINUTE: Duration = Duration::from_secs(60);

/// An app that remembers the consent of its users.
fn remembering_app(world: &World) -> App {
    world.app().kind("web").register()
}

/// Expects that the browser returns to the app at once, with this error.
async fn expect_error(world: &World, browser: &mut Browser, request: &Authorization, error: &str) {
    let page = browser.open(&request.path()).await;
    assert_eq!(page.reply.status, 303, "{}", page.reply);
    request.expect_error_response(world, &page.location().unwrap(), error);
}

/// Opens the request, signs in and returns the page that follows.
async fn sign_in(browser: &mut Browser, request: &Authorization, user: &User) -> Page {
    let page = follow(browser, &request.path()).await;
    submit_sign_in(browser, &page, user).await
}

async fn submit_sign_in(browser: &mut Browser, page: &Page, user: &User) -> Page {
    assert!(page.asks_for("password"), "{}", page.reply);
    let credentials = [("email", user.email.as_str()), ("password", &user.password)];
    let signed_in = browser.submit(page, &credentials).await;
    follow(browser, signed_in.location().unwrap().as_str()).await
}

async fn without_pages_the_browser_returns_at_once(world: SharedWorld) {
    let (user, app) = (world.user().await, remembering_app(&world));
    let silent = app
        .authorization()
        .set("scope", "posts:read")
        .set("prompt", "none");
    expect_error(&world, &mut world.browser(), &silent, "login_required").await;
    expect_error(&world, &mut user.browser(), &silent, "consent_required").await;
    app.authorize(&mut user.browser(), &user, "posts:read").await;
    let page = user.browser().open(&silent.path()).await;
    let redirect = page.location().unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    assert_eq!(parameter(&redirect, "state").as_deref(), Some("some state"));
    let wider = silent.clone().set("scope", "posts:read posts:write");
    expect_error(&world, &mut user.browser(), &wider, "consent_required").await;
    let aged = silent.set("max_age", "0");
    expect_error(&world, &mut user.browser(), &aged, "login_required").await;
}

async fn public_apps_never_get_a_code_without_pages(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    app.authorize(&mut user.browser(), &user, "posts:read").await;
    let silent = app
        .authorization()
        .set("scope", "posts:read")
        .set("prompt", "none");
    expect_error(&world, &mut user.browser(), &silent, "consent_required").await;
}

async fn signed_in_users_sign_in_again_on_request(world: SharedWorld) {
    let app = remembering_app(&world);
    for prompt in ["login", "select_account"] {
        let user = world.user().await;
        app.authorize(&mut user.browser(), &user, "posts:read").await;
        let mut browser = user.browser();
        let request = app
            .authorization()
            .set("scope", "posts:read")
            .set("prompt", prompt);
        let former = browser.cookie("sid").unwrap().to_owned();
        // The consent page does not accept the former session.
        let sign_in_page = follow(&mut browser, &request.path()).await;
        let flow = sign_in_page.hidden("flow").unwrap();
        let consent = format!("{}/consent?flow={flow}", world.base());
        let page = follow(&mut browser, &consent).await;
        assert!(page.asks_for("password"), "{prompt}: {}", page.reply);
        let page = sign_in(&mut browser, &request, &user).await;
        assert!(parameter(&page.location().unwrap(), "code").is_some(), "{prompt}");
        assert_ne!(browser.cookie("sid"), Some(former.as_str()));
    }
}

/// Another user may sign in, for example on a shared computer.
async fn another_user_may_sign_in(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = world.app().register();
    let mut browser = user.browser();
    let request = app.authorization().set("prompt", "login");
    let page = sign_in(&mut browser, &request, &other).await;
    assert!(page.visible_text().contains(&other.email), "{}", page.reply);
}

/// The browser began the flow signed out, and presents an earlier session afterwards.
async fn an_earlier_session_cannot_join_a_flow_that_demands_a_sign_in(world: SharedWorld) {
    let app = remembering_app(&world);
    for (name, value) in [
        ("prompt", "login"),
        ("prompt", "select_account"),
        ("max_age", "0"),
    ] {
        let user = world.user().await;
        app.authorize(&mut user.browser(), &user, "posts:read").await;
        let mut browser = world.browser();
        let request = app.authorization().set("scope", "posts:read").set(name, value);
        let sign_in_page = follow(&mut browser, &request.path()).await;
        let flow = sign_in_page.hidden("flow").unwrap();
        browser.set_cookie("sid", &user.sid);
        let page = follow(&mut browser, &format!("/consent?flow={flow}")).await;
        assert!(page.asks_for("password"), "{name}={value}: {}", page.reply);
        let fields = [
            ("flow", flow),
            ("csrf", page.hidden("csrf").unwrap()),
            ("decision", "allow".to_owned()),
            ("user", user.id.to_string()),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let consent = page.url.join("/consent").unwrap();
        expect_sign_in_page(&browser.post(&consent, &fields).await);
        // The flow goes on after the sign-in.
        let page = submit_sign_in(&mut browser, &page, &user).await;
        let redirect = page.location().unwrap();
        assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    }
}

fn expect_sign_in_page(page: &Page) {
    assert_eq!(page.reply.status, 303, "{}", page.reply);
    assert_eq!(page.location().unwrap().path(), "/signin", "{}", page.reply);
}

/// A form that was shown in a sufficient session does not work in the outdated one.
async fn an_outdated_session_cannot_submit_the_consent(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let mut browser = user.browser();
    let request = app.authorization().set("prompt", "login");
    let page = follow(&mut browser, &request.path()).await;
    // Signing in renews the session of the browser. Without its cookie, the session lives on beside the new
    // one.
    browser.set_cookie("sid", "none");
    let page = submit_sign_in(&mut browser, &page, &user).await;
    assert!(page.asks_for("decision"), "{}", page.reply);
    let sufficient = browser.cookie("sid").unwrap().to_owned();
    browser.set_cookie("sid", &user.sid);
    expect_sign_in_page(&browser.submit(&page, &[("decision", "allow")]).await);
    // The attempt does not use up the flow.
    browser.set_cookie("sid", &sufficient);
    let allowed = browser.submit(&page, &[("decision", "allow")]).await;
    let redirect = allowed.location().unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
}

async fn max_age_is_looked_at_again_when_the_user_decides(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    world.advance(MINUTE);
    let mut browser = user.browser();
    let request = app.authorization().set("max_age", "90");
    let page = follow(&mut browser, &request.path()).await;
    assert!(page.asks_for("decision"), "{}", page.reply);
    world.advance(MINUTE);
    expect_sign_in_page(&browser.submit(&page, &[("decision", "allow")]).await);
    expect_sign_in_page(&browser.open(page.url.as_str()).await);
    let sign_in_page = follow(&mut browser, page.url.as_str()).await;
    let page = submit_sign_in(&mut browser, &sign_in_page, &user).await;
    let allowed = browser.submit(&page, &[("decision", "allow")]).await;
    let redirect = allowed.location().unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
}

async fn users_sign_in_again_after_max_age(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    world.advance(MINUTE);
    for (max_age, asks_password) in [("90", false), ("600", false), ("60", true), ("0", true)] {
        let request = app.authorization().set("max_age", max_age);
        let page = follow(&mut user.browser(), &request.path()).await;
        assert_eq!(
            page.asks_for("password"),
            asks_password,
            "{max_age}: {}",
            page.reply
        );
        assert_eq!(
            page.asks_for("decision"),
            !asks_password,
            "{max_age}: {}",
            page.reply
        );
    }
    // A sign-in in the flow is enough, so a user may take time to decide.
    let mut browser = user.browser();
    let request = app.authorization().set("max_age", "5");
    let page = sign_in(&mut browser, &request, &user).await;
    world.advance(MINUTE);
    let answer = browser.submit(&page, &[("decision", "allow")]).await;
    assert!(parameter(&answer.location().unwrap(), "code").is_some());
}

async fn a_remembered_consent_is_asked_for_on_request(world: SharedWorld) {
    let (user, app) = (world.user().await, remembering_app(&world));
    app.authorize(&mut user.browser(), &user, "posts:read").await;
    let request = app
        .authorization()
        .set("scope", "posts:read")
        .set("prompt", "consent");
    let page = follow(&mut user.browser(), &request.path()).await;
    assert!(page.asks_for("decision"), "{}", page.reply);
}

async fn the_sign_in_page_suggests_the_login_hint(world: SharedWorld) {
    let app = world.app().register();
    for (hint, shown) in [
        ("ann@example.org", "value=\"ann@example.org\""),
        ("\"><script>", "value=\"&#34;&#62;&#60;script&#62;\""),
    ] {
        let request = app.authorization().set("login_hint", hint);
        let page = follow(&mut world.browser(), &request.path()).await;
        assert!(page.reply.text().contains(shown), "{}", page.reply);
    }
    // The user whom it names gets through the flow.
    let user = world.user().await;
    let request = app.authorization().set("login_hint", &user.email);
    let page = follow(&mut world.browser(), &request.path()).await;
    let shown = format!("value=\"{}\"", user.email);
    assert!(page.reply.text().contains(&shown), "{}", page.reply);
    let grant = request.allow(&mut world.browser(), &user).await;
    app.exchange(&world.anyone(), &grant).await.expect(200);
}

async fn invalid_demands_are_refused(world: SharedWorld) {
    let app = world.app().register();
    for (name, value) in [
        ("prompt", "none login"),
        ("prompt", "nonsense"),
        ("max_age", "-1"),
        ("max_age", "soon"),
    ] {
        let request = app.authorization().set(name, value);
        request.expect_error_redirect(&world, "invalid_request").await;
    }
    let metadata = world
        .anyone()
        .get("/.well-known/oauth-authorization-server")
        .await;
    let prompts = &metadata.expect(200).json()["prompt_values_supported"];
    assert_eq!(
        prompts,
        &serde_json::json!(["none", "login", "consent", "select_account"])
    );
}

on_every_shape!(
    without_pages_the_browser_returns_at_once,
    public_apps_never_get_a_code_without_pages,
    signed_in_users_sign_in_again_on_request,
    another_user_may_sign_in,
    an_earlier_session_cannot_join_a_flow_that_demands_a_sign_in,
    an_outdated_session_cannot_submit_the_consent,
    max_age_is_looked_at_again_when_the_user_decides,
    users_sign_in_again_after_max_age,
    a_remembered_consent_is_asked_for_on_request,
    the_sign_in_page_suggests_the_login_hint,
    invalid_demands_are_refused,
);
