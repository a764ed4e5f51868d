//! The sequences of those modules of the OpenID Foundation's conformance suite that no other test goes
//! through. `docs/develop/conformance.md` lists all modules with their tests.

use super::backchannel_logout::wait_for;
use super::{id_token, sign_in, verify};
use std::cmp::Ordering;
use std::time::Duration;
use tests::{
    App, Browser, Shape, SharedWorld, StubServer, Tokens, User, World, claims, on_every_shape, parameter,
};

/// Completes an authorization request with these parameters beside the scope `openid`. Returns the ID token.
async fn id_token_of(app: &App, browser: &mut Browser, user: &User, parameters: &[(&str, &str)]) -> String {
    let request = app.authorization().set("scope", "openid");
    let request = parameters
        .iter()
        .fold(request, |request, (name, value)| request.set(name, value));
    let grant = request.allow(browser, user).await;
    id_token(&Tokens::parse(app.exchange(&user.anonymous(), &grant).await))
}

/// oidcc-prompt-login, oidcc-max-age-1, oidcc-max-age-10000, oidcc-prompt-none-logged-in and
/// oidcc-id-token-hint.
async fn a_new_sign_in_changes_auth_time_and_nothing_else_does(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, world.app().kind("web").register());
    let mut browser = user.browser();
    let hint = id_token_of(&app, &mut browser, &user, &[]).await;
    let mut former = claims(&hint);
    for (parameters, signs_in) in [
        ([("max_age", "10000")].as_slice(), false),
        (&[("prompt", "none")], false),
        (&[("prompt", "none"), ("id_token_hint", hint.as_str())], false),
        (&[("max_age", "1")], true),
        (&[("max_age", "10000")], false),
        (&[("prompt", "login")], true),
    ] {
        world.advance(Duration::from_secs(2));
        let current = claims(&id_token_of(&app, &mut browser, &user, parameters).await);
        assert_eq!(current["sub"], former["sub"], "{parameters:?}");
        let times = [&current, &former].map(|claims| claims["auth_time"].as_i64().unwrap());
        let expected = if signs_in {
            Ordering::Greater
        } else {
            Ordering::Equal
        };
        assert_eq!(times[0].cmp(&times[1]), expected, "{parameters:?}");
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

/// oidcc-alternate-happy-flow, which was oidcc-ensure-other-scope-order-succeeds before it reordered the
/// parameters too.
async fn the_order_of_scopes_and_parameters_does_not_matter(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let request = |scope| app.authorization().set("scope", scope);
    // Each `set` moves a parameter to the end.
    let other = request("email profile openid");
    let parameters = other.parameters().iter().rev();
    let reversed = parameters.fold(other.clone(), |reversed, (name, value)| reversed.set(name, value));
    for request in [request("openid profile email"), reversed] {
        let grant = request.allow(&mut user.browser(), &user).await;
        let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
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

/// oidcc-rp-initiated-logout and oidcc-backchannel-rp-initiated-logout.
async fn after_a_logout_a_silent_request_needs_a_sign_in(world: SharedWorld) {
    const AFTER: &str = "https://app.test/bye";
    let (user, server) = (world.user().await, StubServer::start().await);
    let app = world
        .app()
        .kind("web")
        .option(&["--post-logout-redirect-uri", AFTER])
        .option(&["--backchannel-logout-uri", &server.url])
        .register();
    let mut browser = user.browser();
    let hint = id_token(&sign_in(&app, &mut browser, &user, "openid").await);
    let silent = app.authorization().set("scope", "openid").set("prompt", "none");
    let page = browser.open(&silent.path()).await;
    assert!(
        parameter(&page.location().unwrap(), "code").is_some(),
        "{}",
        page.reply
    );
    let sign_out = format!("/signout?id_token_hint={hint}&post_logout_redirect_uri={AFTER}");
    let page = browser.open(&sign_out).await;
    assert_eq!(page.reply.expect(303).header("location"), AFTER);
    let told = verify(&world, &wait_for(&server, 1).await[0], "logout+jwt", &app.id).await;
    assert_eq!(told["sid"], claims(&hint)["sid"]);
    let page = browser.open(&silent.path()).await;
    silent.expect_error_response(&world, &page.location().unwrap(), "login_required");
}

on_every_shape!(
    a_new_sign_in_changes_auth_time_and_nothing_else_does,
    a_code_that_is_used_again_after_30_seconds_ends_its_tokens,
    the_order_of_scopes_and_parameters_does_not_matter,
    after_a_logout_a_silent_request_needs_a_sign_in,
);
