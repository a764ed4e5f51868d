//! "Bearer-token model".

use super::super::SECOND;
use crate::oauth::bearer_tokens::token_check;
use crate::oauth::revocation::revoke;
use aws_lc_rs::signature::RSA_PKCS1_SHA512;
use serde_json::json;
use tests::{Grant, Shape, SharedWorld, Signer, Tokens, World, on_every_shape, parameter};

/// 5, bearer-token model 1: "The client obtains tokens with the authorization-code flow with PKCE".
async fn statement_1_tokens_are_obtained_by_code_and_pkce(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let grant = app.authorize(&mut ann.browser(), &ann, "profile:read").await;
    let mut guessed = grant.clone();
    guessed.verifier = "v".repeat(43);
    let refused = app.exchange(&world.anyone(), &guessed).await;
    refused.expect_token_error(400, "invalid_grant");
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let caller = world.anyone().bearer(&tokens.access);
    assert_eq!(caller.get("/me").await.expect(200).json()["id"], json!(ann.id));
}

/// 5, bearer-token model 1: "(challenge method S256)". Other methods and requests without PKCE are
/// rejected.
async fn statement_1_the_challenge_method_is_s256(world: SharedWorld) {
    let app = world.app().register();
    let plain = app.authorization().set("code_challenge_method", "plain");
    plain.expect_error_redirect(&world, "invalid_request").await;
    let none = app.authorization().without("code_challenge_method");
    none.expect_error_redirect(&world, "invalid_request").await;
    let no_pkce = app.authorization().without("code_challenge");
    no_pkce.expect_error_redirect(&world, "invalid_request").await;
}

/// 5, bearer-token model 2: "signature verified with the keys at the issuer's JWKS address".
async fn statement_2_the_signature_is_verified_with_the_keys_of_the_jwks(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let published = world.anyone().get("/.well-known/jwks.json").await.expect(200);
    let forger = &token_check.forger;
    assert!(
        published.json()["keys"]
            .as_array()
            .unwrap()
            .iter()
            .any(|key| key["kid"] == json!(forger.signer.kid) && key["n"] == forger.signer.jwk()["n"])
    );
    token_check.expect_accepted(&forger.good()).await;
    let unknown = Signer::unknown(&forger.signer.kid);
    let token = unknown.sign(&forger.header.to_string(), &forger.claims.to_string());
    token_check
        .expect_rejected("signed by an unpublished key", &token)
        .await;
}

/// 5, bearer-token model 2: "algorithm is RS256".
async fn statement_2_the_algorithm_is_rs256(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let forger = &token_check.forger;
    assert_eq!(forger.header["alg"], "RS256");
    token_check.expect_accepted(&forger.good()).await;
    let mut header = forger.header.clone();
    header["alg"] = json!("RS512");
    let (header, claims) = (header.to_string(), forger.claims.to_string());
    let token = forger.signer.sign_with(&RSA_PKCS1_SHA512, &header, &claims);
    token_check.expect_rejected("RS512 by the same key", &token).await;
    let unsigned = forger.with_header("alg", json!("none"));
    let unsigned = format!("{}.", unsigned.rsplit_once('.').unwrap().0);
    token_check.expect_rejected("none", &unsigned).await;
}

/// 5, bearer-token model 2: "`iss` equals the configured issuer".
async fn statement_2_iss_equals_the_configured_issuer(world: SharedWorld) {
    let token_check = token_check(&world).await;
    token_check
        .expect_accepted(&token_check.forger.with_claim("iss", json!(world.base())))
        .await;
    token_check
        .expect_claim_rejected("iss", &[json!("https://other.test")])
        .await;
}

/// 5, bearer-token model 2: "`aud` equals the configured audience".
async fn statement_2_aud_equals_the_configured_audience(shape: Shape) {
    let world = World::builder(shape).flag("--audience", "the-blog").start().await;
    let (ann, app) = world.user_and_app().await;
    let tokens = app.tokens(&ann, "posts:read").await;
    assert_eq!(tokens.claims()["aud"], "the-blog");
    let forger = tests::TokenForger::new(&world, &ann).await;
    for (aud, status) in [("the-blog", 200), ("another-api", 401), (world.base(), 401)] {
        let token = forger.with_claim("aud", json!(aud));
        let reply = world.anyone().bearer(&token).get("/protected").await;
        assert_eq!(reply.status, status, "{aud}: {reply}");
    }
}

/// 5, bearer-token model 2: "the token's age does not exceed 10 minutes", even if `exp` is later.
async fn statement_2_the_age_does_not_exceed_10_minutes(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let token_check = token_check(&world).await;
    let day_long = token_check.forger.claims["iat"].as_i64().unwrap() + 86_400;
    let token = token_check.forger.with_claim("exp", json!(day_long));
    world.advance(600 * SECOND);
    token_check.expect_accepted(&token).await;
    world.advance(SECOND);
    token_check.expect_rejected("a second older", &token).await;
}

/// 5, bearer-token model 2: "its `jti` is not on the revocation list".
async fn statement_2_the_jti_is_not_on_the_revocation_list(world: SharedWorld) {
    let token_check = token_check(&world).await;
    let (token, other) = (
        token_check.forger.with_claim("jti", json!("the-one")),
        token_check.forger.with_claim("jti", json!("the-other")),
    );
    token_check.expect_accepted(&token).await;
    revoke(&world, "jti", "the-one").await;
    world.expect_revoked_soon(&token).await;
    token_check.expect_accepted(&other).await;
}

/// 5, bearer-token model 3: "Refresh tokens rotate on each use; the used one is revoked".
async fn statement_3_refresh_tokens_rotate_and_the_used_one_is_revoked(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let first = app.tokens(&ann, "posts:read").await;
    let second = Tokens::parse(app.refresh(&world.anyone(), &first.refresh).await);
    let third = Tokens::parse(app.refresh(&world.anyone(), &second.refresh).await);
    assert_ne!(first.refresh, second.refresh);
    assert_ne!(second.refresh, third.refresh);
    let used = app.refresh(&world.anyone(), &second.refresh).await;
    used.expect_token_error(400, "invalid_grant");
}

/// 5, bearer-token model 3: "A revocation list keyed by `jti` is kept", across restarts.
async fn statement_3_the_revocation_list_is_kept(mut world: World) {
    let token_check = token_check(&world).await;
    let token = token_check.forger.with_claim("jti", json!("the-one"));
    revoke(&world, "jti", "the-one").await;
    world.kill();
    world.restart().await;
    token_check
        .expect_rejected("revoked before the restart", &token)
        .await;
    token_check.expect_accepted(&token_check.forger.good()).await;
}

/// 5, bearer-token model 4: "Tokens are never placed in a URL": the redirect contains none, and the API
/// accepts none from a query.
async fn statement_4_tokens_are_never_placed_in_a_url(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let grant: Grant = app.authorize(&mut ann.browser(), &ann, "posts:read").await;
    for name in ["access_token", "refresh_token", "token"] {
        assert_eq!(parameter(&grant.redirect, name), None, "{}", grant.redirect);
    }
    assert_eq!(grant.redirect.fragment(), None, "{}", grant.redirect);
    let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
    let path = format!("/protected?access_token={}", tokens.access);
    let reply = world.anyone().get(&path).await;
    reply.expect_error(401, "unauthenticated");
}

/// 5, bearer-token model 4: "… or in browser web storage". The pages have no scripts.
async fn statement_4_pages_do_not_use_web_storage(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    let mut browser = world.browser();
    let start = browser.open(&app.authorization().path()).await;
    let sign_in = browser.open(start.location().unwrap().as_str()).await;
    assert!(sign_in.asks_for("password"), "{}", sign_in.reply);
    let fields = [("email", ann.email.as_str()), ("password", &ann.password)];
    let mut consent = browser.submit(&sign_in, &fields).await;
    while let Some(next) = consent.location() {
        consent = browser.open(next.as_str()).await;
    }
    assert!(consent.asks_for("decision"), "{}", consent.reply);
    for page in [sign_in, consent] {
        let text = page.reply.text().to_lowercase();
        assert!(!text.contains("storage"), "{text}");
        let policy = page.reply.header("content-security-policy");
        assert!(
            !policy.contains("unsafe-inline") && policy.ends_with("; script-src 'self'"),
            "{policy}"
        );
    }
    let script = world.anyone().get("/assets/pages.js").await.expect(200).text();
    assert!(!script.to_lowercase().contains("storage"), "{script}");
}

on_every_shape!(
    statement_1_tokens_are_obtained_by_code_and_pkce,
    statement_1_the_challenge_method_is_s256,
    statement_2_the_signature_is_verified_with_the_keys_of_the_jwks,
    statement_2_the_algorithm_is_rs256,
    statement_2_iss_equals_the_configured_issuer,
    statement_2_aud_equals_the_configured_audience,
    statement_2_the_age_does_not_exceed_10_minutes,
    statement_2_the_jti_is_not_on_the_revocation_list,
    statement_3_refresh_tokens_rotate_and_the_used_one_is_revoked,
    statement_3_the_revocation_list_is_kept,
    statement_4_tokens_are_never_placed_in_a_url,
    statement_4_pages_do_not_use_web_storage,
);
