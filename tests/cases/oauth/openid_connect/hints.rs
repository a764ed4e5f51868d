//! `id_token_hint` in authorization requests (OpenID Connect Core §3.1.2.1).

mod renewed_sessions;

use super::super::consent::follow;
use super::super::signing_keys::{RETIREMENT_TIME, STAGING_TIME, key_in_state, rotate, wait_until_published};
use super::backchannel_logout::wait_for;
use super::{id_token, sign_in};
use std::time::Duration;
use tests::{App, Shape, SharedWorld, StubServer, User, World, on_every_shape, parameter};

async fn a_silent_request_needs_the_user_of_the_hint(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = world.app().kind("web").register();
    let hint = id_token(&app.tokens(&user, "openid").await);
    app.tokens(&other, "openid").await;
    let silent = app.authorization().set("scope", "openid").set("prompt", "none");
    let silent = silent.set("id_token_hint", &hint);
    let page = user.browser().open(&silent.path()).await;
    assert!(
        parameter(&page.location().unwrap(), "code").is_some(),
        "{}",
        page.reply
    );
    for mut browser in [other.browser(), world.browser()] {
        let page = browser.open(&silent.path()).await;
        silent.expect_error_response(&world, &page.location().unwrap(), "login_required");
    }
}

async fn another_user_signs_in_as_the_user_of_the_hint(world: SharedWorld) {
    let (user, other) = (world.user().await, world.user().await);
    let app = world.app().register();
    let hint = id_token(&app.tokens(&user, "openid").await);
    let request = app
        .authorization()
        .set("scope", "openid")
        .set("id_token_hint", &hint);
    let mut browser = other.browser();
    let page = follow(&mut browser, &request.path()).await;
    assert!(page.asks_for("password"), "{}", page.reply);
    let redirect = browser
        .complete_flow(&request.path(), &user, "allow")
        .await
        .unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    // A sign-in as another user gets no code.
    let mut browser = world.browser();
    let redirect = browser
        .complete_flow(&request.path(), &other, "allow")
        .await
        .unwrap();
    request.expect_error_response(&world, &redirect, "login_required");
}

async fn a_hint_is_an_id_token_of_the_client(world: SharedWorld) {
    let (user, server) = (world.user().await, StubServer::start().await);
    let app = world
        .app()
        .option(&["--backchannel-logout-uri", &server.url])
        .register();
    let other_app = world.app().register();
    let mut browser = user.browser();
    let tokens = sign_in(&app, &mut browser, &user, "openid").await;
    let own = id_token(&tokens);
    let foreign = id_token(&sign_in(&other_app, &mut browser, &user, "openid").await);
    let (head, signature) = own.rsplit_once('.').unwrap();
    let mut flipped = signature.to_owned();
    flipped.replace_range(0..1, if signature.starts_with('A') { "B" } else { "A" });
    // The other JWTs that the issuer signs for the client about the user.
    let caller = world.anyone().bearer(&tokens.access);
    let signed = caller.get("/userinfo").header("accept", "application/jwt").await;
    let user_info = signed.expect(200).text();
    let elsewhere = world.log_in(&user.email, &user.password).await;
    sign_in(&app, &mut elsewhere.browser(), &elsewhere, "openid").await;
    elsewhere.post("/logout").await.expect(204);
    let logout_token = wait_for(&server, 1).await.remove(0);
    for hint in [
        foreign,
        user_info,
        logout_token,
        tokens.access,
        format!("{head}.{flipped}"),
        "nonsense".to_owned(),
    ] {
        let request = app
            .authorization()
            .set("scope", "openid")
            .set("id_token_hint", &hint);
        let page = browser.open(&request.path()).await;
        request.expect_error_response(&world, &page.location().unwrap(), "invalid_request");
    }
}

/// Advances the clock until the key that signed the first tokens is no longer published. Returns its `kid`.
async fn retire_first_key(world: &World) -> String {
    let first = key_in_state(world, "active");
    world.advance(STAGING_TIME);
    rotate(world);
    world.advance(RETIREMENT_TIME);
    wait_until_published(world, |kids| !kids.contains(&first)).await;
    first
}

fn sign_out_path(hint: &str) -> String {
    format!("/signout?id_token_hint={hint}&post_logout_redirect_uri=https%3A%2F%2Fapp.test%2Fbye")
}

fn app_with_logout(world: &World) -> App {
    let app = world.app().kind("web");
    app.option(&["--post-logout-redirect-uri", "https://app.test/bye"])
        .register()
}

async fn an_id_token_serves_as_a_hint_after_its_key_was_retired(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app_with_logout(&world));
    let mut browser = user.browser();
    let tokens = sign_in(&app, &mut browser, &user, "openid").await;
    let hint = id_token(&tokens);
    retire_first_key(&world).await;
    let silent = app.authorization().set("scope", "openid").set("prompt", "none");
    let silent = silent.set("id_token_hint", &hint);
    let redirect = browser.open(&silent.path()).await.location().unwrap();
    assert!(parameter(&redirect, "code").is_some(), "{redirect}");
    let page = browser.open(&sign_out_path(&hint)).await;
    assert_eq!(page.reply.expect(303).header("location"), "https://app.test/bye");
    user.get("/me").await.expect_error(401, "unauthenticated");
    // The key signs nothing else: its access tokens are not accepted.
    let caller = world.anyone().bearer(&tokens.access);
    caller.get("/protected").await.expect_error(401, "invalid_token");
    caller.get("/userinfo").await.expect(401);
}

/// Expects that the hint names nobody: the user is asked at `/signout`, and `/authorize` refuses it.
async fn expect_no_hint(world: &World, app: &App, user: &User, hint: &str) {
    let user = world.log_in(&user.email, &user.password).await;
    let mut browser = user.browser();
    let page = browser.open(&sign_out_path(hint)).await;
    assert!(page.visible_text().contains(&user.email), "{}", page.reply);
    user.get("/me").await.expect(200);
    let request = app
        .authorization()
        .set("scope", "openid")
        .set("id_token_hint", hint);
    let redirect = browser.open(&request.path()).await.location().unwrap();
    request.expect_error_response(world, &redirect, "invalid_request");
}

async fn the_hints_of_a_compromised_key_end_with_it(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, app_with_logout(&world));
    let hint = id_token(&app.tokens(&user, "openid").await);
    let kid = retire_first_key(&world).await;
    let is_hint = || async {
        let silent = app.authorization().set("scope", "openid").set("prompt", "none");
        let silent = silent.set("id_token_hint", &hint);
        let mut browser = world.log_in(&user.email, &user.password).await.browser();
        let redirect = browser.open(&silent.path()).await.location().unwrap();
        parameter(&redirect, "code").is_some()
    };
    assert!(is_hint().await);
    // The key is found to have leaked after it was deleted.
    let change = world.cli(&["keys", "retire", &kid, "--compromised", "--json"], "");
    assert_eq!(change["done"], "discarded", "{change}");
    expect_no_hint(&world, &app, &user, &hint).await;
    let new = id_token(&app.tokens(&user, "openid").await);
    let active = key_in_state(&world, "active");
    world.cli(&["keys", "retire", &active, "--compromised", "--json"], "");
    wait_until_published(&world, |kids| !kids.contains(&active)).await;
    expect_no_hint(&world, &app, &user, &new).await;
}

async fn hints_end_when_no_session_of_their_time_can_live(shape: Shape) {
    let setup = World::builder(shape).clock().flag("--session-max", "1h");
    let world = setup.flag("--session-idle", "1h").start().await;
    let (user, app) = (world.user().await, app_with_logout(&world));
    let hint = id_token(&app.tokens(&user, "openid").await);
    retire_first_key(&world).await;
    world.advance(Duration::from_secs(3600) - RETIREMENT_TIME);
    expect_no_hint(&world, &app, &user, &hint).await;
}

on_every_shape!(
    an_id_token_serves_as_a_hint_after_its_key_was_retired,
    the_hints_of_a_compromised_key_end_with_it,
    hints_end_when_no_session_of_their_time_can_live,
    a_silent_request_needs_the_user_of_the_hint,
    another_user_signs_in_as_the_user_of_the_hint,
    a_hint_is_an_id_token_of_the_client,
);
