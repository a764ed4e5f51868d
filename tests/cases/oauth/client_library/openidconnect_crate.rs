//! The Rust crate `openidconnect`: sign-in, claims, refresh, introspection, revocation, logout, and a service.

use super::transport;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthenticationFlow, CoreClaimName, CoreClaimType, CoreClient, CoreClientAuthMethod,
    CoreGrantType, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
    CoreResponseMode, CoreResponseType, CoreSubjectIdentifierType, CoreTokenResponse, CoreUserInfoClaims,
};
use openidconnect::{
    AccessTokenHash, AdditionalProviderMetadata, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IntrospectionUrl, IssuerUrl, LogoutProviderMetadata,
    LogoutRequest, Nonce, NonceVerifier, OAuth2TokenResponse as _, PkceCodeChallenge, PostLogoutRedirectUrl,
    ProviderMetadata, RedirectUrl, RevocationUrl, Scope, SubjectIdentifier, TokenIntrospectionResponse as _,
};
use serde::{Deserialize, Serialize};
use tests::{App, World, eventually, on_every_shape, parameter};

/// The endpoints which the crate `openidconnect` leaves its callers to read (RFC 8414 §2).
#[derive(Clone, Debug, Deserialize, Serialize)]
struct OAuthEndpoints {
    introspection_endpoint: IntrospectionUrl,
    revocation_endpoint: RevocationUrl,
}

impl AdditionalProviderMetadata for OAuthEndpoints {}

type OpenIdMetadata = ProviderMetadata<
    LogoutProviderMetadata<OAuthEndpoints>,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

type OpenIdClient =
    CoreClient<EndpointSet, EndpointNotSet, EndpointSet, EndpointSet, EndpointMaybeSet, EndpointMaybeSet>;

/// The configuration of the issuer, as the crate discovers it.
async fn discover(world: &World) -> OpenIdMetadata {
    let (anyone, issuer) = (world.anyone(), IssuerUrl::new(world.base().to_owned()).unwrap());
    let http = |request| transport(anyone.clone(), request);
    OpenIdMetadata::discover_async(issuer, &http).await.unwrap()
}

/// The crate's client for a confidential app, with all endpoints of the metadata.
fn openid_client(metadata: OpenIdMetadata, app: &App) -> OpenIdClient {
    let endpoints = metadata.additional_metadata().additional_metadata.clone();
    // The crate revokes tokens at https URLs only.
    let revocation = endpoints.revocation_endpoint.replacen("http://", "https://", 1);
    let (id, secret) = (
        ClientId::new(app.id.clone()),
        app.secret.clone().map(ClientSecret::new),
    );
    CoreClient::from_provider_metadata(metadata, id, secret)
        .set_redirect_uri(RedirectUrl::new(app.redirect_uri.clone()).unwrap())
        .set_introspection_url(endpoints.introspection_endpoint)
        .set_revocation_url(RevocationUrl::new(revocation).unwrap())
}

/// Verifies the ID token of a response, which names the access token. Returns its subject.
fn subject(
    client: &OpenIdClient,
    tokens: &CoreTokenResponse,
    nonce: impl NonceVerifier,
) -> SubjectIdentifier {
    let (id_token, verifier) = (
        tokens.extra_fields().id_token().unwrap(),
        client.id_token_verifier(),
    );
    let claims = id_token.claims(&verifier, nonce).unwrap();
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg().unwrap(),
        id_token.signing_key(&verifier).unwrap(),
    );
    assert_eq!(claims.access_token_hash(), Some(&hash.unwrap()));
    claims.subject().clone()
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
    let metadata = discover(&world).await;
    let end_session = metadata.additional_metadata().end_session_endpoint.clone();
    let client = openid_client(metadata, &app);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let (url, _, nonce) = client
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("email".to_owned()))
        .add_scope(Scope::new("posts:read".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let mut browser = world.browser();
    let redirect = browser.complete_flow(url.as_str(), &user, "allow").await.unwrap();
    let code = AuthorizationCode::new(parameter(&redirect, "code").unwrap());
    let exchange = client.exchange_code(code).unwrap().set_pkce_verifier(verifier);
    let tokens = exchange.request_async(&http).await.unwrap();
    let sub = subject(&client, &tokens, &nonce);
    assert_eq!(sub.as_str(), user.id.to_string());

    let request = client.user_info(tokens.access_token().clone(), Some(sub.clone()));
    let user_info: CoreUserInfoClaims = request.unwrap().request_async(&http).await.unwrap();
    assert_eq!(user_info.email().unwrap().as_str(), user.email);

    let refresh = client
        .exchange_refresh_token(tokens.refresh_token().unwrap())
        .unwrap();
    let refreshed = refresh.request_async(&http).await.unwrap();
    // The ID token of a refresh has no nonce (OpenID Connect Core §12.2).
    let no_nonce = |nonce: Option<&Nonce>| nonce.map_or(Ok(()), |nonce| Err(nonce.secret().clone()));
    assert_eq!(subject(&client, &refreshed, no_nonce), sub);

    let is_active = async || {
        let described = client.introspect(refreshed.access_token());
        described.request_async(&http).await.unwrap().active()
    };
    assert!(is_active().await);
    world.expect_accepted(refreshed.access_token().secret()).await;
    let revocation = client.revoke_token(refreshed.access_token().into()).unwrap();
    revocation.request_async(&http).await.unwrap();
    world.expect_revoked(refreshed.access_token().secret()).await;
    eventually("the revoked token is active", async || !is_active().await).await;

    let after = PostLogoutRedirectUrl::new(POST_LOGOUT.to_owned()).unwrap();
    let logout = LogoutRequest::from(end_session.unwrap())
        .set_id_token_hint(refreshed.extra_fields().id_token().unwrap())
        .set_post_logout_redirect_uri(after);
    let page = browser.open(logout.http_get_url().as_str()).await;
    assert_eq!(page.reply.header("location"), POST_LOGOUT);
}

async fn the_openidconnect_crate_gets_a_token_for_a_service(world: World) {
    let service = world.app().kind("service").scope("posts:read").register();
    let client = openid_client(discover(&world).await, &service);
    let anyone = world.anyone();
    let http = |request| transport(anyone.clone(), request);
    let request = client.exchange_client_credentials().unwrap();
    let request = request.add_scope(Scope::new("posts:read".to_owned()));
    let tokens = request.request_async(&http).await.unwrap();
    assert!(tokens.refresh_token().is_none() && tokens.extra_fields().id_token().is_none());
    world.expect_accepted(tokens.access_token().secret()).await;
    let described = client.introspect(tokens.access_token());
    let described = described.request_async(&http).await.unwrap();
    assert_eq!(described.client_id().unwrap().as_str(), service.id);
}

on_every_shape!(
    the_openidconnect_crate_signs_a_user_in,
    the_openidconnect_crate_gets_a_token_for_a_service,
);
