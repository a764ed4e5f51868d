//! Pushed requests and their responses.

use super::{FapiApp, WITH_QUERY, prove, strict, to_resource};
use serde_json::json;
use tests::{CALLBACK, Grant, Shape, Tokens, claims, on_every_shape, parameter};

/// happy-flow: the second client has a redirect URI with a query, and binds the code by `dpop_jkt` alone.
async fn two_clients_get_tokens_that_only_their_own_keys_can_use(shape: Shape) {
    let world = strict(shape).start().await;
    let user = world.user().await;
    let first = FapiApp::register(&world, CALLBACK);
    let second = FapiApp::register(&world, WITH_QUERY);
    let scope = "openid profile:read";
    let tokens = first.tokens(&world, &user, scope).await;
    assert_eq!(tokens.reply.json()["token_type"], "DPoP");
    let (token, caller) = (&tokens.access, world.anyone().dpop(&tokens.access));
    for accept in [
        "application/json;charset=utf-8",
        "application/json, application/*+json, */*",
    ] {
        let call = || caller.get("/me").header("accept", accept);
        let reply = prove(&world, &first.proof_key, &to_resource(&world, token), call).await;
        assert!(reply.expect(200).has("date"));
    }
    let in_query = || world.anyone().get(&format!("/me?access_token={token}"));
    let refused = prove(&world, &first.proof_key, &to_resource(&world, token), in_query).await;
    refused.expect_error(401, "unauthenticated");

    let request = second
        .app
        .authorization()
        .set("scope", scope)
        .set("state", &"s".repeat(128));
    let request = request
        .set("nonce", &"n".repeat(43))
        .set("dpop_jkt", &second.proof_key.thumbprint());
    let grant = second.allow(&world, &user, &request).await;
    assert!(
        grant.redirect.as_str().starts_with(&format!("{WITH_QUERY}&")),
        "{}",
        grant.redirect
    );
    assert_eq!(parameter(&grant.redirect, "iss").as_deref(), Some(world.base()));
    let stolen = second
        .token(&world, &first.proof_key, &second.exchange_fields(&grant))
        .await;
    stolen.expect_token_error(400, "invalid_grant");
    let of_second = Tokens::parse(second.exchange(&world, &grant).await);
    let refused = second.read(&world, &first.proof_key, &of_second.access).await;
    refused.expect_error(401, "invalid_token");
    second
        .read(&world, &second.proof_key, &of_second.access)
        .await
        .expect(200);
}

/// without-state, state-only-outside-request-object, different-state-inside-and-outside, long-state, and the
/// same for `nonce`; other-scope-order.
async fn state_and_nonce_return_as_they_were_pushed(shape: Shape) {
    let world = strict(shape).start().await;
    let (user, app) = (world.user().await, FapiApp::register(&world, CALLBACK));
    let (long_state, long_nonce) = ("s".repeat(1000), "n".repeat(384));
    for (state, nonce, further) in [
        (None, None, ""),
        (None, None, "&state=outside&nonce=outside"),
        (Some("inside"), Some("inside"), "&state=outside&nonce=outside"),
        (Some(&*long_state), Some(&*long_nonce), ""),
        (Some(&long_state[..128]), Some(&long_nonce[..64]), ""),
    ] {
        let request = app
            .app
            .authorization()
            .without("state")
            .set("scope", "profile:read openid");
        let request = [("state", state), ("nonce", nonce)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .fold(request, |request, (name, value)| request.set(name, value));
        let redirect = app.decide(&world, &user, &request, (further, "allow")).await;
        assert_eq!(parameter(&redirect, "state").as_deref(), state);
        let grant = Grant::parse(redirect, request.verifier.clone());
        let tokens = Tokens::parse(app.exchange(&world, &grant).await);
        let id_token = claims(tokens.reply.json()["id_token"].as_str().unwrap());
        assert_eq!(id_token.get("nonce"), nonce.map(|nonce| json!(nonce)).as_ref());
    }
}

/// user-rejects-authentication, by both clients.
async fn a_rejection_returns_to_the_client(shape: Shape) {
    let world = strict(shape).start().await;
    let user = world.user().await;
    for redirect_uri in [CALLBACK, WITH_QUERY] {
        let app = FapiApp::register(&world, redirect_uri);
        let state = "s".repeat(128);
        let request = app.app.authorization().set("state", &state);
        let redirect = app.decide(&world, &user, &request, ("", "deny")).await;
        assert!(redirect.as_str().starts_with(redirect_uri), "{redirect}");
        for (name, expected) in [
            ("error", "access_denied"),
            ("state", &state),
            ("iss", world.base()),
        ] {
            assert_eq!(
                parameter(&redirect, name).as_deref(),
                Some(expected),
                "{redirect}"
            );
        }
        assert_eq!(parameter(&redirect, "code"), None, "{redirect}");
    }
}

on_every_shape!(
    two_clients_get_tokens_that_only_their_own_keys_can_use,
    state_and_nonce_return_as_they_were_pushed,
    a_rejection_returns_to_the_client,
);
