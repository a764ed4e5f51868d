//! The Rust crate `openidconnect`, configured by discovery alone. See tests/src/independent_clients.rs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "the program is a test: a failed step panics, and the settings and steps are those of its protocol"
)]

mod harness;
mod provider;

use harness::{Settings, done, eventually, open, send, status_of_api};
use openidconnect::core::{CoreAuthenticationFlow, CoreTokenResponse, CoreUserInfoClaims};
use openidconnect::{
    AccessTokenHash, AuthorizationCode, CsrfToken, LogoutRequest, Nonce, NonceVerifier,
    OAuth2TokenResponse as _, PkceCodeChallenge, PostLogoutRedirectUrl, Scope, SubjectIdentifier,
    TokenIntrospectionResponse as _, TokenResponse as _,
};
use provider::{OpenIdClient, Provider};
use reqwest::{Client, redirect};
use std::net::{Ipv4Addr, SocketAddr};
use url::Url;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let settings = Settings::read();
    let http = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .resolve("localhost", SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .build()
        .unwrap();
    let provider = Provider::discover(&http, &settings.issuer).await;
    let client = provider.client(&settings.web, &settings.redirect_uri);
    let (tokens, sub) = sign_in(&http, &client, &settings).await;
    let refreshed = refresh(&http, &client, &tokens, &sub).await;
    revoke(&http, &client, &settings.issuer, &refreshed).await;
    log_out(&provider, &refreshed, &settings.post_logout_uri);
    serve_without_user(&http, &provider, &settings).await;
    done();
}

/// Signs the user in and reads the claims. Returns the tokens and their subject.
async fn sign_in(
    http: &Client,
    client: &OpenIdClient,
    settings: &Settings,
) -> (CoreTokenResponse, SubjectIdentifier) {
    let send = |request| send(http.clone(), request);
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let (url, state, nonce) = client
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("email".to_owned()))
        .add_scope(Scope::new("posts:read".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let redirect = open(&url);
    assert_eq!(parameter(&redirect, "state"), *state.secret());
    let code = AuthorizationCode::new(parameter(&redirect, "code"));
    let exchange = client.exchange_code(code).unwrap().set_pkce_verifier(verifier);
    let tokens = exchange.request_async(&send).await.unwrap();
    let sub = subject(client, &tokens, &nonce);
    assert_eq!(sub.as_str(), settings.user.id);
    let request = client.user_info(tokens.access_token().clone(), Some(sub.clone()));
    let user_info: CoreUserInfoClaims = request.unwrap().request_async(&send).await.unwrap();
    assert_eq!(user_info.email().unwrap().as_str(), settings.user.email);
    (tokens, sub)
}

/// Refreshes the tokens of a user.
async fn refresh(
    http: &Client,
    client: &OpenIdClient,
    tokens: &CoreTokenResponse,
    sub: &SubjectIdentifier,
) -> CoreTokenResponse {
    let send = |request| send(http.clone(), request);
    let refresh = client
        .exchange_refresh_token(tokens.refresh_token().unwrap())
        .unwrap();
    let refreshed = refresh.request_async(&send).await.unwrap();
    // The ID token of a refresh has no nonce (OpenID Connect Core §12.2).
    let no_nonce = |nonce: Option<&Nonce>| nonce.map_or(Ok(()), |nonce| Err(nonce.secret().clone()));
    assert_eq!(subject(client, &refreshed, no_nonce), *sub);
    refreshed
}

/// Introspects and uses an access token, and revokes it.
async fn revoke(http: &Client, client: &OpenIdClient, issuer: &str, tokens: &CoreTokenResponse) {
    let send = |request| send(http.clone(), request);
    let token = tokens.access_token();
    let is_active = async || {
        let described = client.introspect(token);
        described.request_async(&send).await.unwrap().active()
    };
    let status = async || status_of_api(http, issuer, token.secret()).await;
    assert!(is_active().await);
    assert_eq!(status().await, 200);
    let revocation = client.revoke_token(token.into()).unwrap();
    revocation.request_async(&send).await.unwrap();
    eventually("the API accepts the revoked token", async || {
        status().await == 401
    })
    .await;
    eventually("the revoked token is active", async || !is_active().await).await;
}

/// Signs the user out. The test looks at the session afterwards.
fn log_out(provider: &Provider, tokens: &CoreTokenResponse, post_logout_uri: &str) {
    let after = PostLogoutRedirectUrl::new(post_logout_uri.to_owned()).unwrap();
    let logout = LogoutRequest::from(provider.end_session_endpoint())
        .set_id_token_hint(tokens.id_token().unwrap())
        .set_post_logout_redirect_uri(after);
    assert_eq!(open(&logout.http_get_url()).as_str(), post_logout_uri);
}

/// Gets a token for a service.
async fn serve_without_user(http: &Client, provider: &Provider, settings: &Settings) {
    let send = |request| send(http.clone(), request);
    let client = provider.client(&settings.service, &settings.redirect_uri);
    let request = client.exchange_client_credentials().unwrap();
    let request = request.add_scope(Scope::new("posts:read".to_owned()));
    let tokens = request.request_async(&send).await.unwrap();
    assert!(tokens.refresh_token().is_none() && tokens.id_token().is_none());
    let token = tokens.access_token();
    assert_eq!(status_of_api(http, &settings.issuer, token.secret()).await, 200);
    let described = client.introspect(token).request_async(&send).await.unwrap();
    assert_eq!(described.client_id().unwrap().as_str(), settings.service.id);
}

/// Verifies the ID token of a response, which names the access token. Returns its subject.
fn subject(
    client: &OpenIdClient,
    tokens: &CoreTokenResponse,
    nonce: impl NonceVerifier,
) -> SubjectIdentifier {
    let (id_token, verifier) = (tokens.id_token().unwrap(), client.id_token_verifier());
    let claims = id_token.claims(&verifier, nonce).unwrap();
    let hash = AccessTokenHash::from_token(
        tokens.access_token(),
        id_token.signing_alg().unwrap(),
        id_token.signing_key(&verifier).unwrap(),
    );
    assert_eq!(claims.access_token_hash(), Some(&hash.unwrap()));
    claims.subject().clone()
}

/// Returns the first query parameter with this name.
fn parameter(url: &Url, name: &str) -> String {
    let found = url.query_pairs().find(|(found, _)| found == name);
    found.unwrap().1.into_owned()
}
