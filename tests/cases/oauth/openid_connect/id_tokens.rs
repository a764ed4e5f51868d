//! ID tokens (OpenID Connect Core §2, §3.1.3).

use super::{id_token, verify};
use foundation::secret;
use serde_json::json;
use std::time::Duration;
use tests::{Authenticator, Shape, SharedWorld, Tokens, World, on_every_shape};

async fn an_id_token_describes_the_sign_in(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let signed_in_at = world.now().seconds();
    world.advance(Duration::from_secs(90));
    let request = app
        .authorization()
        .set("scope", "openid posts:read")
        .set("nonce", "n-0S6_WzA2Mj");
    let grant = request.allow(&mut user.browser(), &user).await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let claims = verify(&world, &id_token(&tokens), "JWT", &app.id).await;
    let hash = secret::hash(&tokens.access);
    let sid = user.get("/me/sessions").await.json()["items"][0]["id"].to_string();
    let issued_at = claims["iat"].as_i64().unwrap();
    let auth_time = claims["auth_time"].as_i64().unwrap();
    assert!((signed_in_at - 5..=signed_in_at).contains(&auth_time), "{claims}");
    assert!(
        (world.now().seconds() - 5..=world.now().seconds()).contains(&issued_at),
        "{claims}"
    );
    let expected = json!({
        "iss": world.base(), "sub": user.id.to_string(), "aud": app.id, "iat": issued_at, "exp": issued_at + 600,
        "auth_time": auth_time, "nonce": "n-0S6_WzA2Mj", "acr": "1", "amr": ["pwd"],
        "at_hash": secret::encode(&hash[..16]), "sid": sid,
    });
    assert_eq!(claims, expected);
}

async fn only_the_scope_openid_gets_an_id_token(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let without = app.tokens(&user, "posts:read profile email").await;
    assert_eq!(without.reply.json().get("id_token"), None);
    let tokens = app.tokens(&user, "openid posts:read").await;
    assert!(
        verify(&world, &id_token(&tokens), "JWT", &app.id)
            .await
            .get("nonce")
            .is_none()
    );
    // A narrower refresh narrows this response only.
    let refresh = |token: &str, scope: &'static str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("scope", scope),
        ];
        app.token(&world.anyone(), &fields)
    };
    let narrowed = Tokens::parse(refresh(&tokens.refresh, "posts:read").await);
    assert_eq!(narrowed.reply.json().get("id_token"), None);
    let refreshed = Tokens::parse(app.refresh(&world.anyone(), &narrowed.refresh).await);
    verify(&world, &id_token(&refreshed), "JWT", &app.id).await;
}

/// OpenID Connect Core §12.2.
async fn the_id_token_of_a_refresh_is_about_the_same_sign_in(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = world.user_and_app().await;
    let request = app.authorization().set("scope", "openid").set("nonce", "once");
    let grant = request.allow(&mut user.browser(), &user).await;
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let first = verify(&world, &id_token(&tokens), "JWT", &app.id).await;
    world.advance(Duration::from_secs(300));
    // The grant of a third-party app outlives the session.
    user.post("/logout").await.expect(204);
    let tokens = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
    let second = verify(&world, &id_token(&tokens), "JWT", &app.id).await;
    for claim in ["iss", "sub", "aud", "auth_time", "amr", "acr", "sid"] {
        assert_eq!(first[claim], second[claim], "{claim}");
    }
    assert_eq!(second.get("nonce"), None);
    assert!(second["iat"].as_i64() >= first["iat"].as_i64().map(|at| at + 300));
    assert_ne!(first["at_hash"], second["at_hash"]);
}

async fn two_step_sign_in_is_in_the_token(world: SharedWorld) {
    let user = world.user().await;
    let authenticator = Authenticator::enable(&world, &user).await;
    for otp in [
        authenticator.next_code(&world),
        authenticator.recovery_codes[0].clone(),
    ] {
        let credentials = json!({ "email": user.email, "password": user.password, "otp": otp });
        let signed_in = world.log_in_with(&credentials).await;
        let app = world.app().register();
        let tokens = app.tokens(&signed_in, "openid").await;
        let claims = verify(&world, &id_token(&tokens), "JWT", &app.id).await;
        assert_eq!(claims["amr"], json!(["pwd", "otp", "mfa"]));
        assert_eq!(claims["acr"], "2");
    }
}

/// A passkey counts as two factors, and one that turned two-step sign-in on stays a passkey.
async fn a_passkey_is_in_the_token(world: SharedWorld) {
    let user = world.user().await;
    let mut browser = user.browser();
    let passkey = world.add_passkey(&mut browser).await;
    let page = browser.open("/signout").await;
    browser
        .submit(&page, &[("csrf", &page.hidden("csrf").unwrap())])
        .await;
    passkey.sign_in(&mut browser).await;
    let app = world.app().register();
    for has_code in [false, true] {
        if has_code {
            let page = browser.open("/account/two-step").await;
            let csrf = page.hidden("csrf").unwrap();
            let page = browser.submit(&page, &[("csrf", &csrf)]).await;
            let code = Authenticator::of_page(&page).next_code(&world);
            let page = browser.submit(&page, &[("otp", &code)]).await;
            assert_eq!(page.recovery_codes().len(), 10);
        }
        let grant = app.authorize(&mut browser, &user, "openid").await;
        let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
        let claims = verify(&world, &id_token(&tokens), "JWT", &app.id).await;
        assert_eq!(claims["amr"], json!(["pop", "user", "mfa"]));
        assert_eq!(claims["acr"], "2");
    }
}

async fn an_id_token_is_no_access_token(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let id_token = id_token(&app.tokens(&user, "openid profile:read").await);
    let caller = world.anyone().bearer(&id_token);
    caller.get("/me").await.expect_error(401, "invalid_token");
    caller.get("/userinfo").await.expect_error(401, "invalid_token");
    let server = world.app().kind("web").register();
    let described = server
        .client_call(&world.anyone(), "/introspect", &[("token", &id_token)])
        .await;
    assert_eq!(described.expect(200).json(), json!({ "active": false }));
}

on_every_shape!(
    an_id_token_describes_the_sign_in,
    only_the_scope_openid_gets_an_id_token,
    the_id_token_of_a_refresh_is_about_the_same_sign_in,
    two_step_sign_in_is_in_the_token,
    a_passkey_is_in_the_token,
    an_id_token_is_no_access_token,
);
