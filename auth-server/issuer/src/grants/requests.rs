//! The requests of the authorization endpoint and of the token endpoint: one struct each, for parsing and for
//! the OpenAPI document. [`Params::read`](crate::params::Params::read) leaves a required field empty if its
//! parameter is omitted.

use crate::token_error::TokenError;
use foundation::scope::Scope;
use identity::clients::Client;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// An authorization request (RFC 6749 §4.1.1) with PKCE (RFC 7636 §4.3). A pushed request has the same
/// fields.
#[derive(Deserialize, Serialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub struct AuthorizationRequest {
    /// `code`
    pub response_type: String,
    /// `query`, the only supported response mode.
    #[schema(ignore)]
    #[param(ignore)]
    pub response_mode: Option<String>,
    /// The identifier of the client.
    pub client_id: String,
    /// The URI that receives the response: identical to a registered one.
    pub redirect_uri: String,
    /// The requested scopes, separated by spaces. By default those of the client's registration.
    pub scope: Option<String>,
    /// An opaque value, returned with the response. The redirect URI has at most 2800 bytes with it and
    /// `iss`.
    pub state: Option<String>,
    /// The S256 code challenge (RFC 7636).
    pub code_challenge: String,
    /// `S256`
    pub code_challenge_method: String,
    /// `none` to show no page, or any of `login`, `consent` and `select_account` to show these pages even if
    /// they are not needed (OpenID Connect Core §3.1.2.1).
    pub prompt: Option<String>,
    /// The longest time since the user signed in, in seconds. A user who signed in before signs in again.
    pub max_age: Option<String>,
    /// The e-mail address that the sign-in page suggests.
    pub login_hint: Option<String>,
    /// The languages for the pages, as tags that are separated by spaces (OpenID Connect Core §3.1.2.1). The
    /// first supported one counts.
    pub ui_locales: Option<String>,
    /// An opaque value, returned in the ID token (OpenID Connect Core §3.1.2.1).
    pub nonce: Option<String>,
    /// An ID token of the user that the client expects. Another user must sign in as this one.
    pub id_token_hint: Option<String>,
    /// The resource that the access tokens are for (RFC 8707): the URL of the API, which is the default.
    #[param(required = false)]
    #[schema(required = false)]
    pub resource: Vec<String>,
    /// The thumbprint of the key that must sign the DPoP proof of the token request (RFC 9449 §10).
    pub dpop_jkt: Option<String>,
    /// Not supported.
    #[schema(ignore)]
    #[param(ignore)]
    pub request: Option<String>,
    /// The reference to a pushed request (RFC 9126), which takes the place of all parameters except
    /// `client_id`.
    #[schema(ignore)]
    pub request_uri: Option<String>,
    /// Not supported.
    #[schema(ignore)]
    #[param(ignore)]
    pub registration: Option<String>,
}

impl AuthorizationRequest {
    /// Returns the error for a parameter that this issuer does not support (OpenID Connect Core §3.1.2.6).
    pub(super) fn unsupported_parameter(&self) -> Option<&'static str> {
        let present = [
            (&self.request, "request_not_supported"),
            (&self.request_uri, "request_uri_not_supported"),
            (&self.registration, "registration_not_supported"),
        ];
        let (_, error) = present.into_iter().find(|(value, _)| value.is_some())?;
        Some(error)
    }
}

/// A request to sign the user out (OpenID Connect RP-Initiated Logout 1.0 §2).
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub struct EndSessionRequest {
    /// An ID token of the session, which may have expired. The user then need not confirm.
    pub id_token_hint: Option<String>,
    /// The identifier of the client. The default is that of the ID token.
    pub client_id: Option<String>,
    /// The URI for the redirect after the logout: identical to a registered one.
    pub post_logout_redirect_uri: Option<String>,
    /// An opaque value, returned with the redirect, which has at most 2800 bytes with it.
    pub state: Option<String>,
    /// The languages for the page, as tags that are separated by spaces. The first supported one counts.
    pub ui_locales: Option<String>,
}

/// A token request (RFC 6749 §4.1.3, §4.4.2, §6; RFC 8628 §3.4).
#[derive(Deserialize, ToSchema)]
pub struct TokenRequest {
    /// `authorization_code`, `refresh_token`, `urn:ietf:params:oauth:grant-type:device_code`, or for a
    /// service `client_credentials`
    pub grant_type: String,
    /// The identifier of a client that does not authenticate by HTTP Basic.
    pub client_id: Option<String>,
    /// The secret of a confidential client that does not authenticate by HTTP Basic.
    pub client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with `client_assertion`.
    pub client_assertion_type: Option<String>,
    /// The signed assertion of a confidential client with keys (RFC 7523).
    pub client_assertion: Option<String>,
    /// The authorization code from the redirect.
    pub code: Option<String>,
    /// The redirect URI of the authorization request.
    pub redirect_uri: Option<String>,
    /// The value that the code challenge was computed from (RFC 7636).
    pub code_verifier: Option<String>,
    /// The latest refresh token of its family.
    pub refresh_token: Option<String>,
    /// For a refresh, a subset of the granted scopes, for this access token only. For a service, the
    /// requested scopes; by default those of its registration.
    pub scope: Option<String>,
    /// The resource that the access token is for (RFC 8707): the URL of the API, which is the default.
    #[schema(required = false)]
    pub resource: Vec<String>,
    /// The device code from the response to the device authorization request (RFC 8628).
    pub device_code: Option<String>,
}

/// A revocation request (RFC 7009 §2.1) or an introspection request (RFC 7662 §2.1).
#[derive(Deserialize, ToSchema)]
pub struct PresentedTokenRequest {
    /// An access token or a refresh token. The kind is recognized without `token_type_hint`.
    pub token: String,
    /// The identifier of a client that does not authenticate by HTTP Basic.
    pub client_id: Option<String>,
    /// The secret of a confidential client that does not authenticate by HTTP Basic.
    pub client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with `client_assertion`.
    pub client_assertion_type: Option<String>,
    /// The signed assertion of a confidential client with keys (RFC 7523).
    pub client_assertion: Option<String>,
}

impl PresentedTokenRequest {
    /// Returns the token. Fails with `invalid_request` if it is omitted.
    pub fn token(&self) -> Result<&str, TokenError> {
        required("token", Some(&self.token).filter(|token| !token.is_empty()))
    }
}

/// Returns the value of a parameter that the request requires. Fails with `invalid_request` if it is omitted.
pub(super) fn required<'a>(name: &str, value: Option<&'a String>) -> Result<&'a str, TokenError> {
    value
        .map(String::as_str)
        .ok_or_else(|| TokenError::InvalidRequest(format!("{name} is required")))
}

/// Parses the requested scope; `None` stays `None`. Fails if the scope is unknown or empty.
pub(super) fn parse_scope(scope: Option<&str>) -> Result<Option<Scope>, TokenError> {
    match scope.map(str::parse::<Scope>) {
        None => Ok(None),
        Some(Ok(scope)) if !scope.is_empty() => Ok(Some(scope)),
        Some(_) => Err(TokenError::InvalidScope),
    }
}

/// Returns the scope that a client gets: the requested one, or else its default scope. Returns `None` if the
/// scope is empty or exceeds that of the registration.
pub(super) fn allowed_scope(client: &Client, requested: Option<Scope>) -> Option<Scope> {
    let scope = requested.unwrap_or(client.default_scope);
    (!scope.is_empty() && client.scope.covers(scope)).then_some(scope)
}
