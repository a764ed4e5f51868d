//! Unmodified client libraries in Rust, configured by discovery alone. `openid_connect::independent_clients` has those
//! in other languages.

use oauth2::basic::{BasicClient, BasicErrorResponseType};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, CsrfToken, HttpRequest, HttpResponse, PkceCodeChallenge,
    RedirectUrl, RequestTokenError, Scope, TokenResponse as _, TokenUrl,
};
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreUserInfoClaims};
use openidconnect::{
    AccessTokenHash, ClientSecret, ConfigurationError, IntrospectionUrl, IssuerUrl, LogoutRequest, Nonce,
    PostLogoutRedirectUrl, ProviderMetadataWithLogout, RevocationUrl, TokenIntrospectionResponse as _,
};
use serde_json::json;
use tests::{CALLBACK, Caller, World, on_every_shape, parameter};

/// The HTTP transport for the crates.
async fn transport(caller: Caller, request: HttpRequest) -> Result<HttpResponse, std::convert::Infallible> {
    let mut call = caller.call(request.method().as_str(), &request.uri().to_string());
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

async fn the_oauth2_crate_completes_the_whole_flow(world: World) {
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

async fn the_openidconnect_crate_signs_a_user_in(world: World) {
    const POST_LOGOUT: &str = "https://app.test/bye";
    let user = world.sign_up().await;
    let app = world
        .app()
        .kind("web")
        .option(&["--post-logout-redirect-uri", POST_LOGOUT])
        .register();
    let anyone = world.anyone();
    let http = |request| transport(anyone.clone(), request);
    let issuer = IssuerUrl::new(world.base().to_owned()).unwrap();
    let metadata = ProviderMetadataWithLogout::discover_async(issuer, &http)
        .await
        .unwrap();
    let end_session = metadata
        .additional_metadata()
        .end_session_endpoint
        .clone()
        .unwrap();
    let (id, secret) = (
        ClientId::new(app.id.clone()),
        ClientSecret::new(app.secret.clone().unwrap()),
    );
    let client = CoreClient::from_provider_metadata(metadata, id, Some(secret))
        .set_redirect_uri(RedirectUrl::new(CALLBACK.to_owned()).unwrap())
        .set_introspection_url(IntrospectionUrl::new(format!("{}/introspect", world.base())).unwrap())
        .set_revocation_url(RevocationUrl::new(format!("{}/revoke", world.base())).unwrap());

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let (url, _, nonce) = client
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("email".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let mut browser = world.browser();
    let redirect = browser.complete_flow(url.as_str(), &user, "allow").await.unwrap();
    let code = AuthorizationCode::new(parameter(&redirect, "code").unwrap());
    let exchange = client.exchange_code(code).unwrap().set_pkce_verifier(verifier);
    let tokens = exchange.request_async(&http).await.unwrap();
    let id_token = tokens.extra_fields().id_token().unwrap();
    let verifier = client.id_token_verifier();
    let claims = id_token.claims(&verifier, &nonce).unwrap();
    assert_eq!(claims.subject().as_str(), user.id.to_string());
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg().unwrap(),
        id_token.signing_key(&verifier).unwrap(),
    );
    assert_eq!(claims.access_token_hash(), Some(&hash.unwrap()));

    let request = client.user_info(tokens.access_token().clone(), Some(claims.subject().clone()));
    let user_info: CoreUserInfoClaims = request.unwrap().request_async(&http).await.unwrap();
    assert_eq!(user_info.email().unwrap().as_str(), user.email);

    let refresh = client
        .exchange_refresh_token(tokens.refresh_token().unwrap())
        .unwrap();
    let refreshed = refresh.request_async(&http).await.unwrap();
    let described = client
        .introspect(refreshed.access_token())
        .request_async(&http)
        .await;
    assert!(described.unwrap().active());
    // The crate sends revocations to https URLs only.
    let revocation = client.revoke_token(refreshed.access_token().clone().into());
    assert!(matches!(revocation, Err(ConfigurationError::InsecureUrl(_))));

    let after = PostLogoutRedirectUrl::new(POST_LOGOUT.to_owned()).unwrap();
    let logout = LogoutRequest::from(end_session)
        .set_id_token_hint(id_token)
        .set_post_logout_redirect_uri(after);
    let page = browser.open(logout.http_get_url().as_str()).await;
    assert_eq!(page.reply.header("location"), POST_LOGOUT);
}

async fn metadata_names_working_endpoints_of_the_issuer(world: World) {
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
    assert_eq!(keys.len(), 2, "the active key and the staged one: {set}");
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

on_every_shape!(
    the_oauth2_crate_completes_the_whole_flow,
    the_openidconnect_crate_signs_a_user_in,
    metadata_names_working_endpoints_of_the_issuer,
);
