//! Protection against cross-site request forgery: a double-submit token, and the check of `Origin` or
//! `Sec-Fetch-Site`.

use crate::error::{Code, Error};
use crate::headers::single;
use crate::{Cors, Policy, cookies};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::IntoResponse;
use foundation::{random, secret};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The request header that repeats the value of the `csrf` cookie.
pub const HEADER: &str = "x-csrf-token";
/// The request header in which a browser names the relation of the page to this service.
const FETCH_SITE: &str = "sec-fetch-site";

/// The token is missing or wrong, or the request comes from an origin that is not trusted.
#[derive(Debug, thiserror::Error)]
#[error(
    "The anti-forgery token is missing or wrong, or the origin is not allowed. Get a token from /csrf, and send it \
     in the x-csrf-token header together with the csrf cookie."
)]
pub struct Mismatch;

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::new(Code::CsrfMismatch, mismatch.to_string())
    }
}

/// An anti-forgery token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// The value to send in the header `x-csrf-token`.
    #[schema(example = "0197b1f0-5a3c-7c1e-9d55-2f1f6c0e8a11")]
    token: String,
}

/// Get an anti-forgery token
///
/// Returns the token of the caller's `csrf` cookie, or a new one, and sets the cookie.
#[utoipa::path(
    get, path = "/csrf", operation_id = "readCsrfToken", tag = "Sessions",
    responses((status = 200, description = "The token, which is also set as the cookie `csrf`.", body = Token, headers(("Set-Cookie"))))
)]
pub async fn issue(State(policy): State<Arc<Policy>>, headers: HeaderMap) -> impl IntoResponse {
    let (token, cookie) = token(&headers, &policy);
    (cookies::header_of(cookie), Json(Token { token }))
}

/// Returns the token of the `csrf` cookie, or a new one if the request has no valid cookie, and the
/// `Set-Cookie` value that stores it.
pub fn token(headers: &HeaderMap, policy: &Policy) -> (String, HeaderValue) {
    let current = cookies::single(headers, cookies::CSRF).filter(|value| is_token(value));
    let token = current.map_or_else(random::uuid, str::to_owned);
    let secure = if policy.base_url.scheme() == "https" {
        "; Secure"
    } else {
        ""
    };
    let cookie = cookies::set(cookies::CSRF, &token, None, secure);
    (token, cookie)
}

/// Checks a request that has no bearer token. Safe methods pass. A request without any sign of a browser (a
/// cookie of this service, `Origin` or `Sec-Fetch-Site`) passes too, because a forged request comes from a
/// browser and has at least one of them. Any other request must repeat the `csrf` cookie in the header
/// [`HEADER`], and come from an origin whose pages may send cookies according to `cors`.
pub async fn check(method: &Method, headers: &HeaderMap, cors: &Cors) -> Result<(), Mismatch> {
    if method.is_safe() {
        return Ok(());
    }
    let has_cookie = |name| !cookies::all(headers, name).is_empty();
    let may_be_from_browser = has_cookie(cookies::SID)
        || has_cookie(cookies::CSRF)
        || headers.contains_key(header::ORIGIN)
        || headers.contains_key(FETCH_SITE);
    if !may_be_from_browser {
        return Ok(());
    }
    check_cookie(headers, single(headers, HEADER))?;
    if let Some(origin) = named_origin(headers)?
        && !cors.trusts(origin).await
    {
        return Err(Mismatch);
    }
    Ok(())
}

/// Checks a page form: that `presented`, the token from a hidden field, equals the value of the `csrf`
/// cookie, and that the form comes from a page of this program, because no other page needs to send it. Fails
/// if either token is missing or the cookie is repeated. A browser or proxy that sets `Referrer-Policy:
/// no-referrer` makes the browser send `Origin: null` with the forms of our own pages, so that
/// `Sec-Fetch-Site` decides, which no page can set.
pub fn check_form(headers: &HeaderMap, presented: &str, policy: &Policy) -> Result<(), Mismatch> {
    check_cookie(headers, Some(presented))?;
    let is_own = single(headers, FETCH_SITE) == Some("same-origin");
    check_origin(headers, |origin| {
        policy.is_own_origin(origin) || (origin == "null" && is_own)
    })
}

/// Checks that `presented` equals the value of the `csrf` cookie. Fails if either is missing or the cookie is
/// repeated.
pub fn check_cookie(headers: &HeaderMap, presented: Option<&str>) -> Result<(), Mismatch> {
    let cookie = cookies::single(headers, cookies::CSRF)
        .filter(|value| !value.is_empty())
        .ok_or(Mismatch)?;
    let presented = presented.ok_or(Mismatch)?;
    secret::equal(cookie.as_bytes(), presented.as_bytes())
        .then_some(())
        .ok_or(Mismatch)
}

/// Checks that `trusts` is true of the value of `Origin`. Without `Origin`, checks that `Sec-Fetch-Site` is
/// absent, `same-origin` or `none`.
pub fn check_origin(headers: &HeaderMap, trusts: impl FnOnce(&str) -> bool) -> Result<(), Mismatch> {
    if let Some(origin) = named_origin(headers)?
        && !trusts(origin)
    {
        return Err(Mismatch);
    }
    Ok(())
}

/// Returns the value of `Origin`; `None` without it. Fails if it is repeated, or if it is missing and
/// `Sec-Fetch-Site` is neither absent, `same-origin` nor `none`.
fn named_origin(headers: &HeaderMap) -> Result<Option<&str>, Mismatch> {
    if headers.contains_key(header::ORIGIN) {
        return single(headers, header::ORIGIN.as_str()).map(Some).ok_or(Mismatch);
    }
    match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(None),
        Some(_) => Err(Mismatch),
    }
}

/// Returns whether a value consists of 36 hexadecimal digits and hyphens, like the UUIDs that [`token`]
/// creates.
fn is_token(value: &str) -> bool {
    value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
