//! Single-page apps whose refresh token is in a cookie of their own, at `/token`.

mod chromium;
mod refusals;
mod registration;

use serde_json::Value;
use std::time::Duration;
use tests::{App, Call, Caller, Reply, Shape, SharedWorld, User, World, on_every_shape};

/// The page of the app: another origin than the issuer's, and the same site.
const ORIGIN: &str = "http://localhost:4000";
const CALLBACK: &str = "http://localhost:4000/cb";
const CSRF: &str = "00000000-0000-4000-8000-00000000c5f1";

async fn app_with_cookie(world: &World) -> App {
    let app = world
        .app()
        .redirect_uri(CALLBACK)
        .option(&["--refresh-cookie"])
        .register();
    world.expect_origin(ORIGIN).await;
    app
}

fn cookie_name(app: &App) -> String {
    format!("refresh_{}", app.id)
}

/// A page of the app, with the cookies that its browser sends and the anti-forgery token.
fn page(world: &World, cookies: &str) -> Caller {
    let caller = world.anyone().cookies(&format!("csrf={CSRF}; {cookies}"));
    caller.with("origin", ORIGIN).with("x-csrf-token", CSRF)
}

/// A page of the app whose browser has this refresh token.
fn page_with(world: &World, app: &App, refresh_token: &str) -> Caller {
    page(world, &format!("{}={refresh_token}", cookie_name(app)))
}

fn refresh(page: &Caller, app: &App) -> Call {
    app.token(page, &[("grant_type", "refresh_token")])
}

/// Signs the user in to the app. Returns the access token and the refresh token in the cookie.
async fn sign_in(world: &World, user: &User, app: &App) -> (String, String) {
    let grant = app.authorize(&mut user.browser(), user, "posts:read").await;
    read(app, app.exchange(&page(world, ""), &grant).await)
}

/// Reads a token response, which must have the refresh token in the cookie only.
fn read(app: &App, reply: Reply) -> (String, String) {
    let reply = reply.expect(200);
    let body = reply.json();
    assert_eq!(body["refresh_token"], Value::Null, "{reply}");
    assert_eq!(reply.header("cache-control"), "no-store");
    let access = body["access_token"].as_str().unwrap().to_owned();
    (access, reply.cookie(&cookie_name(app)))
}

async fn expect_invalid(world: &World, app: &App, refresh_token: &str) {
    let reply = refresh(&page_with(world, app, refresh_token), app).await;
    reply.expect_token_error(400, "invalid_grant");
}

async fn the_refresh_token_is_in_a_cookie_for_the_token_endpoint_only(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let reply = app.exchange(&page(&world, ""), &grant).await.expect(200);
    let line = reply.set_cookie(&cookie_name(&app)).unwrap().to_owned();
    let mut attributes: Vec<&str> = line.split("; ").skip(1).collect();
    attributes.sort_unstable();
    assert_eq!(
        attributes,
        [
            "HttpOnly",
            "Max-Age=1209600",
            "Path=/token",
            "SameSite=Strict",
            "Secure"
        ]
    );
    let (access, first) = read(&app, reply);
    let (next_access, second) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    assert_ne!(first, second);
    for token in [&access, &next_access] {
        world.expect_accepted(token).await;
    }
    let (_, third) = read(&app, refresh(&page_with(&world, &app, &second), &app).await);
    // The first token is used, and so is its successor.
    expect_invalid(&world, &app, &first).await;
    expect_invalid(&world, &app, &third).await;
    world.expect_revoked(&next_access).await;
}

async fn two_tabs_may_refresh_at_the_same_time(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let (_, first) = sign_in(&world, &user, &app).await;
    let (_, second) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    let (access, again) = read(&app, refresh(&page_with(&world, &app, &first), &app).await);
    assert_eq!(again, second);
    world.expect_accepted(&access).await;
    world.advance(Duration::from_secs(11));
    expect_invalid(&world, &app, &first).await;
    world.expect_revoked(&access).await;
}

async fn a_refresh_by_cookie_needs_the_anti_forgery_token_and_a_trusted_origin(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let (_, token) = sign_in(&world, &user, &app).await;
    let browser = |cookies: &str| {
        world
            .anyone()
            .cookies(&format!("{}={token}{cookies}", cookie_name(&app)))
    };
    let csrf = format!("; csrf={CSRF}");
    let double_submit = || browser(&csrf).with("x-csrf-token", CSRF);
    for forged in [
        browser(""),
        browser(&csrf),
        browser("").with("x-csrf-token", CSRF),
        browser(&csrf).with("x-csrf-token", ""),
        browser(&csrf).with("x-csrf-token", "00000000-0000-4000-8000-00000000c5f2"),
        browser(&format!("{csrf}{csrf}")).with("x-csrf-token", CSRF),
        double_submit().with("origin", "https://evil.test"),
        double_submit().with("origin", "http://localhost:4001"),
        double_submit().with("origin", "null"),
        double_submit().with("sec-fetch-site", "cross-site"),
    ] {
        refresh(&forged, &app).await.expect_error(403, "csrf_mismatch");
        let revocation = app.client_call(&forged, "/token/revoke", &[]).await;
        revocation.expect_error(403, "csrf_mismatch");
    }
    for trusted in [
        double_submit().with("origin", ORIGIN),
        double_submit().with("origin", world.base()),
        double_submit().with("sec-fetch-site", "same-origin"),
    ] {
        // Within the retry window.
        read(&app, refresh(&trusted, &app).await);
    }
}

async fn a_foreign_page_cannot_sign_the_browser_in(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    for foreign in ["https://evil.test", "http://localhost:4001", "null"] {
        let reply = app
            .exchange(&world.anyone().with("origin", foreign), &grant)
            .await;
        assert_eq!(reply.set_cookie(&cookie_name(&app)), None, "{reply}");
        reply.expect_error(403, "csrf_mismatch");
    }
    // The exchange itself uses no cookie, so it needs no anti-forgery token.
    read(
        &app,
        app.exchange(&world.anyone().with("origin", ORIGIN), &grant).await,
    );
}

async fn the_cookie_is_the_only_place_of_the_refresh_token(world: SharedWorld) {
    let user = world.user().await;
    let (app, other, plain) = (
        app_with_cookie(&world).await,
        app_with_cookie(&world).await,
        world.app().register(),
    );
    let (_, token) = sign_in(&world, &user, &app).await;
    let in_body = app.refresh(&page(&world, ""), &token).await;
    in_body.expect_token_error(400, "invalid_request");
    refresh(&page(&world, ""), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    // Each client has a cookie of its own.
    let of_other = format!("{}={token}", cookie_name(&other));
    refresh(&page(&world, &of_other), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    refresh(&page(&world, &of_other), &other)
        .await
        .expect_token_error(400, "invalid_grant");
    let twice = format!("{0}={token}; {0}={token}", cookie_name(&app));
    refresh(&page(&world, &twice), &app)
        .await
        .expect_token_error(400, "invalid_grant");
    let of_plain = format!("{}={token}", cookie_name(&plain));
    refresh(&page(&world, &of_plain), &plain)
        .await
        .expect_token_error(400, "invalid_request");
    read(&app, refresh(&page_with(&world, &app, &token), &app).await);
}

async fn revocation_by_cookie_ends_the_grant_and_removes_the_cookie(world: SharedWorld) {
    let (user, app) = (world.user().await, app_with_cookie(&world).await);
    let (access, token) = sign_in(&world, &user, &app).await;
    for _ in 0..2 {
        let browser = page_with(&world, &app, &token);
        let reply = app.client_call(&browser, "/token/revoke", &[]).await.expect(200);
        let line = reply.set_cookie(&cookie_name(&app)).unwrap();
        assert!(
            line.contains("Path=/token;") && line.contains("Max-Age=0"),
            "{line}"
        );
        assert_eq!(reply.cookie(&cookie_name(&app)), "");
        world.expect_revoked(&access).await;
    }
    expect_invalid(&world, &app, &token).await;
    let signed_out = page(&world, "");
    app.client_call(&signed_out, "/token/revoke", &[])
        .await
        .expect(200);
}

async fn with_a_token_both_revocation_endpoints_are_the_same(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let tokens = app.tokens(&user, "posts:read").await;
    let missing = app.client_call(&anyone, "/token/revoke", &[]).await;
    missing.expect_token_error(400, "invalid_request");
    let fields = [("token", tokens.refresh.as_str())];
    app.client_call(&anyone, "/token/revoke", &fields)
        .await
        .expect(200);
    tokens.expect_revoked(&world, &app).await;
    let (with_cookie, user) = (app_with_cookie(&world).await, world.user().await);
    let (access, token) = sign_in(&world, &user, &with_cookie).await;
    let fields = [("token", access.as_str())];
    let reply = with_cookie.client_call(&anyone, "/token/revoke", &fields).await;
    reply.expect(200);
    world.expect_revoked(&access).await;
    let still_valid = page_with(&world, &with_cookie, &token);
    read(&with_cookie, refresh(&still_valid, &with_cookie).await);
}

on_every_shape!(
    the_refresh_token_is_in_a_cookie_for_the_token_endpoint_only,
    two_tabs_may_refresh_at_the_same_time,
    a_refresh_by_cookie_needs_the_anti_forgery_token_and_a_trusted_origin,
    a_foreign_page_cannot_sign_the_browser_in,
    the_cookie_is_the_only_place_of_the_refresh_token,
    revocation_by_cookie_ends_the_grant_and_removes_the_cookie,
    with_a_token_both_revocation_endpoints_are_the_same,
);
