//! The refresh tokens that browsers keep for single-page apps, each client's in a cookie of its own that
//! scripts cannot read. Browsers send the cookie by themselves, so a request that uses it needs the
//! anti-forgery token.

use super::token_errors::TokenFailure;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use foundation::secret::Secret;
use identity::clients::Client;
use identity::origins;
use issuer::grants::{TokenRequest, TokenResponse};
use issuer::token_error::TokenError;
use std::time::Duration;
use web::headers::single;
use web::{Error, Policy, cookies, csrf};

/// The path of the token endpoint, below which revocation with the cookie is.
const PATH: &str = "/token";

/// Completes the token request of a client that has its refresh token in a cookie: a refresh gets the token
/// from there. Returns the token that the response to another grant replaces. Fails if the request has the
/// token as a parameter or, for a refresh, in no cookie, and if it may be forged. No effect on other clients.
pub(super) fn prepare(
    request: &mut TokenRequest,
    client: &Client,
    headers: &HeaderMap,
    policy: &Policy,
) -> Result<Option<Secret>, TokenFailure> {
    if !client.refresh_cookie {
        return Ok(None);
    }
    if request.refresh_token.is_some() {
        return Err(TokenError::InvalidRequest(
            "this client sends its refresh token in its cookie, and not as a parameter".to_owned(),
        )
        .into());
    }
    if request.grant_type != "refresh_token" {
        check_origin(client, headers, policy)?;
        return Ok(find(client, headers));
    }
    let token = read(client, headers, policy)?.ok_or(TokenError::InvalidGrant(
        "the browser sent no cookie with a refresh token of this client: sign the user in",
    ))?;
    request.refresh_token = Some(token.expose().to_owned());
    Ok(None)
}

/// Returns what [`find`] does. Fails if the anti-forgery token is missing or wrong, or if the request comes
/// from another origin than the client's.
pub(super) fn read(client: &Client, headers: &HeaderMap, policy: &Policy) -> Result<Option<Secret>, Error> {
    csrf::check_cookie(headers, single(headers, csrf::HEADER))?;
    check_origin(client, headers, policy)?;
    Ok(find(client, headers))
}

/// Returns the refresh token in the client's cookie; `None` if the cookie is missing or repeated.
fn find(client: &Client, headers: &HeaderMap) -> Option<Secret> {
    cookies::single(headers, &name(client)).map(Secret::new)
}

/// Fails if a browser sent the request from another origin than the client's. Otherwise any page could make
/// the browser exchange a code of its own, and so sign the user in to another account.
fn check_origin(client: &Client, headers: &HeaderMap, policy: &Policy) -> Result<(), Error> {
    let checked = csrf::check_origin(headers, |origin| {
        policy.trusts_origin(origin) || origins::of_client(client).any(|own| own == origin)
    });
    checked.map_err(Error::from)
}

/// Moves the refresh token of a response into a cookie, if the client has its refresh tokens there. The
/// browser keeps it for the time `max_age`.
pub(super) fn move_from(
    tokens: &mut TokenResponse,
    client: &Client,
    max_age: Duration,
) -> Option<[(HeaderName, HeaderValue); 1]> {
    let token = tokens.refresh_token.take_if(|_| client.refresh_cookie)?;
    let cookie = cookies::set_strict(&name(client), &token, PATH, max_age);
    Some([(header::SET_COOKIE, cookie)])
}

/// Returns the `Set-Cookie` value that removes the client's cookie.
pub(super) fn clear(client: &Client) -> HeaderValue {
    cookies::set_strict(&name(client), "", PATH, Duration::ZERO)
}

/// Returns the failure of a token request, which removes the client's cookie if no request can succeed with
/// it any more.
pub(super) fn failure(error: TokenError, client: &Client) -> TokenFailure {
    let is_useless = matches!(error, TokenError::InvalidRefreshToken { is_useless: true, .. });
    TokenFailure::Token(error, is_useless.then(|| clear(client)))
}

/// Returns the name of the client's cookie. A cookie name may have every character of a client id (RFC 6265
/// §4.1.1).
fn name(client: &Client) -> String {
    format!("refresh_{}", client.id)
}
