//! The sequences of those modules of the OpenID Foundation's conformance suite that no other test goes through.
//! `docs/develop/conformance.md` lists all modules with their tests.

use super::{id_token, sign_in};
use serde_json::Value;
use std::time::Duration;
use tests::{App, Browser, Shape, Tokens, User, World, claims, on_every_shape, parameter};

/// Completes an authorization request with these parameters beside the scope `openid`. Returns the claims of the ID
/// token.
async fn claims_of(app: &App, browser: &mut Browser, user: &User, parameters: &[(&str, &str)]) -> Value {
    let request = app.authorization().set("scope", "openid");
    let request = parameters
        .iter()
        .fold(request, |request, (name, value)| request.set(name, value));
    let grant = request.allow(browser, user).await;
    claims(&id_token(&Tokens::parse(
        app.exchange(&user.anonymous(), &grant).await,
    )))
}

/// oidcc-prompt-login, oidcc-max-age-1, oidcc-max-age-10000 and oidcc-prompt-none-logged-in.
async fn a_new_sign_in_changes_auth_time_and_nothing_else_does(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.sign_up().await, world.app().kind("web").register());
    let mut browser = user.browser();
    let mut former = claims_of(&app, &mut browser, &user, &[]).await;
    for (parameters, signs_in) in [
        ([("max_age", "10000")], false),
        ([("prompt", "none")], false),
        ([("max_age", "1")], true),
        ([("max_age", "10000")], false),
        ([("prompt", "login")], true),
    ] {
        world.advance(Duration::from_secs(2));
        let current = claims_of(&app, &mut browser, &user, &parameters).await;
        assert_eq!(current["sub"], former["sub"], "{parameters:?}");
        let is_later = current["auth_time"].as_i64() > former["auth_time"].as_i64();
        assert_eq!(is_later, signs_in, "{parameters:?}");
        former = current;
    }
}

/// oidcc-codereuse-30seconds.
async fn a_code_that_is_used_again_after_30_seconds_ends_its_tokens(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let grant = app
        .authorize(&mut user.browser(), &user, "openid profile:read")
        .await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    world.advance(Duration::from_secs(30));
    let again = app.exchange(&world.anyone(), &grant).await;
    again.expect_token_error(400, "invalid_grant");
    tokens.expect_revoked(&world, &app).await;
}

/// oidcc-scope-all and oidcc-ensure-other-scope-order-succeeds.
async fn the_order_of_the_scopes_does_not_matter(world: World) {
    let (user, app) = world.user_and_app().await;
    for scope in ["openid profile email", "email profile openid"] {
        let tokens = app.tokens(&user, scope).await;
        assert_eq!(tokens.reply.json()["scope"], "email openid profile");
        let read = world
            .anyone()
            .bearer(&tokens.access)
            .get("/userinfo")
            .await
            .expect(200);
        assert_eq!(read.json()["email"], user.email.as_str());
    }
}

/// oidcc-rp-initiated-logout.
async fn after_a_logout_a_silent_request_needs_a_sign_in(world: World) {
    let (user, app) = (world.sign_up().await, world.app().kind("web").register());
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let silent = app.authorization().set("scope", "openid").set("prompt", "none");
    let page = browser.open(&silent.path()).await;
    assert!(
        parameter(&page.location().unwrap(), "code").is_some(),
        "{}",
        page.reply
    );
    browser.open(&format!("/signout?id_token_hint={hint}")).await;
    let page = browser.open(&silent.path()).await;
    silent.expect_error_response(&world, &page.location().unwrap(), "login_required");
}

on_every_shape!(
    a_new_sign_in_changes_auth_time_and_nothing_else_does,
    a_code_that_is_used_again_after_30_seconds_ends_its_tokens,
    the_order_of_the_scopes_does_not_matter,
    after_a_logout_a_silent_request_needs_a_sign_in,
);
