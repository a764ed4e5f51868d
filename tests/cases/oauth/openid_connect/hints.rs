//! `id_token_hint` in authorization requests (OpenID Connect Core §3.1.2.1).

use super::super::consent::follow;
use super::backchannel_logout::wait_for;
use super::{id_token, sign_in};
use tests::{SharedWorld, StubServer, on_every_shape, parameter};

async fn a_silent_request_needs_the_user_of_the_hint(world: SharedWorld) {
    let (user, other) = (world.sign_up().await, world.sign_up().await);
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
    let (user, other) = (world.sign_up().await, world.sign_up().await);
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
    let (user, server) = (world.sign_up().await, StubServer::start().await);
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

on_every_shape!(
    a_silent_request_needs_the_user_of_the_hint,
    another_user_signs_in_as_the_user_of_the_hint,
    a_hint_is_an_id_token_of_the_client,
);
