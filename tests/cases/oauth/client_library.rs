//! The unmodified Rust crate `oauth2`, configured by discovery alone. `openid_connect::independent_clients`
//! has other client libraries.

use oauth2::basic::{BasicClient, BasicErrorResponseType};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, CsrfToken, HttpRequest, HttpResponse, PkceCodeChallenge,
    RedirectUrl, RequestTokenError, Scope, TokenResponse as _, TokenUrl,
};
use serde_json::json;
use tests::{CALLBACK, Caller, SharedWorld, on_one_shape, parameter};

/// The HTTP transport for the crate.
async fn transport(caller: Caller, request: HttpRequest) -> Result<HttpResponse, std::convert::Infallible> {
    let url = request.uri().to_string();
    let mut call = caller.call(request.method().as_str(), &url);
    for (name, value) in request.headers() {
        call = call.header(name.as_str(), value.to_str().unwrap());
    }
    let content_type = request.headers().get("content-type").cloned();
    if let Some(content_type) = content_type {
        call = call.body(content_type.to_str().unwrap(), request.into_body());
    }
    let reply = call.await;
    let mut response = HttpResponse::new(reply.body.clone());
    *response.status_mut() = reply.status.try_into().unwrap();
    *response.headers_mut() = reply.headers.clone();
    Ok(response)
}

async fn the_oauth2_crate_completes_the_whole_flow(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let metadata = anyone
        .get("/.well-known/oauth-authorization-server")
        .await
        .expect(200)
        .json();
    let endpoint = |name: &str| metadata[name].as_str().unwrap().to_owned();
    let client = BasicClient::new(ClientId::new(app.id.clone()))
        .set_auth_uri(AuthUrl::new(endpoint("authorization_endpoint")).unwrap())
        .set_token_uri(TokenUrl::new(endpoint("token_endpoint")).unwrap())
        .set_redirect_uri(RedirectUrl::new(CALLBACK.to_owned()).unwrap());
    let http = |request| transport(anyone.clone(), request);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scope(Scope::new("posts:read".to_owned()))
        .add_scope(Scope::new("profile:read".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let redirect = world
        .browser()
        .complete_flow(url.as_str(), &user, "allow")
        .await
        .unwrap();
    assert_eq!(
        parameter(&redirect, "state").as_deref(),
        Some(state.secret().as_str())
    );
    assert_eq!(
        parameter(&redirect, "iss").as_deref(),
        metadata["issuer"].as_str()
    );

    let code = AuthorizationCode::new(parameter(&redirect, "code").unwrap());
    let first = client
        .exchange_code(code)
        .set_pkce_verifier(verifier)
        .request_async(&http)
        .await
        .unwrap();
    assert!(first.expires_in().unwrap().as_secs() <= 600);
    let me = anyone
        .bearer(first.access_token().secret())
        .get("/me")
        .await
        .expect(200)
        .json();
    assert_eq!(me["email"], json!(user.email));
    anyone
        .bearer(first.access_token().secret())
        .get("/protected")
        .await
        .expect(200);

    let second = client
        .exchange_refresh_token(first.refresh_token().unwrap())
        .request_async(&http)
        .await
        .unwrap();
    anyone
        .bearer(second.access_token().secret())
        .get("/protected")
        .await
        .expect(200);
    let replay = client
        .exchange_refresh_token(first.refresh_token().unwrap())
        .request_async(&http)
        .await;
    let Err(RequestTokenError::ServerResponse(error)) = replay else {
        panic!("a replay was not rejected: {replay:?}")
    };
    assert_eq!(error.error(), &BasicErrorResponseType::InvalidGrant);
    for revoked in [&first, &second] {
        world.expect_revoked(revoked.access_token().secret()).await;
    }
}

async fn metadata_names_working_endpoints_of_the_issuer(world: SharedWorld) {
    let anyone = world.anyone();
    let metadata = anyone
        .get("/.well-known/oauth-authorization-server")
        .await
        .expect(200)
        .json();
    assert_eq!(metadata["issuer"], json!(world.base()));
    assert_eq!(metadata["response_types_supported"], json!(["code"]));
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(
        metadata["authorization_response_iss_parameter_supported"],
        json!(true)
    );
    for (name, status) in [
        ("authorization_endpoint", 400),
        ("token_endpoint", 405),
        ("revocation_endpoint", 405),
        ("introspection_endpoint", 405),
        ("jwks_uri", 200),
    ] {
        anyone.get(metadata[name].as_str().unwrap()).await.expect(status);
    }
    let keys = anyone.get("/.well-known/jwks.json").await.expect(200);
    assert!(
        keys.header("cache-control").contains("max-age=300") && keys.has("etag"),
        "{keys}"
    );
    let set = keys.json();
    let keys = set["keys"].as_array().unwrap();
    // The test of the permission table rotates the keys of this deployment, and then there are more.
    assert!(keys.len() >= 2, "the active key and the staged one: {set}");
    for key in keys {
        assert_eq!(
            (&key["kty"], &key["alg"], &key["use"]),
            (&json!("RSA"), &json!("RS256"), &json!("sig"))
        );
        assert!(
            ["d", "p", "q", "dp", "dq", "qi"]
                .iter()
                .all(|private| key[private].is_null()),
            "{key}"
        );
    }
}

on_one_shape!(
    the_oauth2_crate_completes_the_whole_flow,
    metadata_names_working_endpoints_of_the_issuer,
);
