//! `/userinfo` (OpenID Connect Core §5.3).

use super::verify;
use foundation::clock::Timestamp;
use serde_json::json;
use tests::{SharedWorld, eventually, on_every_shape};

async fn the_claims_follow_the_scope(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let sub = user.id.to_string();
    let account = user.get("/me").await.expect(200).json();
    let updated_at = Timestamp::parse(account["updated_at"].as_str().unwrap())
        .unwrap()
        .seconds();
    for (scope, expected) in [
        ("openid", json!({ "sub": sub })),
        (
            "openid email",
            json!({ "sub": sub, "email": user.email, "email_verified": false }),
        ),
        ("openid profile", json!({ "sub": sub, "updated_at": updated_at })),
        (
            "openid profile email",
            json!({ "sub": sub, "updated_at": updated_at, "email": user.email, "email_verified": false }),
        ),
    ] {
        let tokens = app.tokens(&user, scope).await;
        let caller = world.anyone().bearer(&tokens.access);
        let reply = caller.get("/userinfo").await.expect(200);
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.json(), expected, "{scope}");
        let posted = caller.post("/userinfo").form::<&str, &str>(&[]).await.expect(200);
        assert_eq!(posted.json(), expected, "{scope}");
        let form = [("access_token", tokens.access.as_str())];
        let in_body = world.anyone().post("/userinfo").form(&form).await.expect(200);
        assert_eq!(in_body.json(), expected, "{scope}");
    }
}

async fn a_client_can_get_the_claims_signed(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "openid email").await;
    let caller = world.anyone().bearer(&tokens.access);
    for (accept, is_signed) in [
        ("application/jwt", true),
        ("application/jwt, text/plain;q=0.5", true),
        ("application/json, application/jwt", false),
        ("application/jwt, */*;q=0.1", false),
        ("application/json", false),
    ] {
        let reply = caller.get("/userinfo").header("accept", accept).await.expect(200);
        let claims = match reply.header("content-type") {
            "application/jwt" if is_signed => verify(&world, &reply.text(), "JWT", &app.id).await,
            "application/json" if !is_signed => {
                let mut claims = reply.json();
                claims["iss"] = world.base().into();
                claims["aud"] = app.id.as_str().into();
                claims
            }
            other => panic!("{accept}: {other}"),
        };
        let expected = json!({
            "iss": world.base(), "aud": app.id, "sub": user.id.to_string(), "email": user.email, "email_verified": false,
        });
        assert_eq!(claims, expected, "{accept}");
    }
}

async fn other_tokens_get_no_claims(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let missing = world
        .anyone()
        .get("/userinfo")
        .await
        .expect_error(401, "unauthenticated");
    assert_eq!(missing.header("www-authenticate"), "Bearer scope=\"openid\"");
    // A session is no credential here.
    user.get("/userinfo").await.expect_error(401, "unauthenticated");
    let invalid = world
        .anyone()
        .bearer("nonsense")
        .get("/userinfo")
        .await
        .expect_error(401, "invalid_token");
    let challenge = "Bearer error=\"invalid_token\", scope=\"openid\"";
    assert_eq!(invalid.header("www-authenticate"), challenge);
    let without = app.tokens(&user, "profile:read email").await;
    let refused = world.anyone().bearer(&without.access).get("/userinfo").await;
    let refused = refused.expect_error(403, "insufficient_scope");
    assert!(
        refused.header("www-authenticate").contains(r#"scope="openid""#),
        "{refused}"
    );
    let tokens = app.tokens(&user, "openid").await;
    let caller = world.anyone().bearer(&tokens.access);
    let in_body = ("access_token", tokens.access.as_str());
    for (caller, form) in [
        (&caller, [in_body].as_slice()),
        (&world.anyone(), &[in_body, in_body]),
        (
            &world.anyone(),
            &[in_body, ("access_token", tokens.refresh.as_str())],
        ),
    ] {
        let twice = caller.post("/userinfo").form(form).await;
        let twice = twice.expect_error(400, "invalid_token");
        let challenge = twice.header("www-authenticate");
        assert_eq!(challenge, "Bearer error=\"invalid_request\"");
    }
    let app_ended = app.client_call(&world.anyone(), "/revoke", &[("token", &tokens.access)]);
    app_ended.await.expect(200);
    eventually("an issuer accepts a revoked token", async || {
        caller.get("/userinfo").await.status == 401
    })
    .await;
    caller.get("/userinfo").await.expect_error(401, "invalid_token");
}

async fn single_page_apps_may_read_the_claims(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "openid").await;
    let origin = "https://app.test";
    world.expect_origin(origin).await;
    let caller = world.anyone().bearer(&tokens.access).with("origin", origin);
    let reply = caller.get("/userinfo").await.expect(200);
    assert_eq!(reply.header("access-control-allow-origin"), origin);
}

on_every_shape!(
    the_claims_follow_the_scope,
    a_client_can_get_the_claims_signed,
    other_tokens_get_no_claims,
    single_page_apps_may_read_the_claims,
);
