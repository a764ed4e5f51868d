//! The anti-forgery token: double submit of a cookie, and the browser's word on where a call comes from.

use crate::error::{Code, Error};
use crate::headers::single;
use crate::{Policy, cookies};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{AppendHeaders, IntoResponse};
use foundation::{random, secret};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The header that repeats the cookie.
pub const HEADER: &str = "x-csrf-token";

/// The request may be a forgery.
#[derive(Debug, thiserror::Error)]
#[error(
    "This call needs the anti-forgery token: get it from /csrf, and send it in the x-csrf-token header \
     along with the csrf cookie, from an origin this service knows."
)]
pub struct Mismatch;

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Self {
        Self::new(Code::CsrfMismatch, mismatch.to_string())
    }
}

/// The anti-forgery token of a browser.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// To be sent in the header `x-csrf-token`.
    #[schema(example = "0197b1f0-5a3c-7c1e-9d55-2f1f6c0e8a11")]
    token: String,
}

/// Get an anti-forgery token
///
/// The caller's token, or a new one; in the body and in the cookie `csrf`.
#[utoipa::path(
    get, path = "/csrf", operation_id = "readCsrfToken", tag = "Sessions",
    responses((status = 200, description = "The token.", body = Token, headers(("Set-Cookie"))))
)]
pub async fn issue(State(policy): State<Arc<Policy>>, headers: HeaderMap) -> impl IntoResponse {
    let (token, cookie) = token(&headers, &policy);
    (
        AppendHeaders([(header::SET_COOKIE, cookie)]),
        Json(Token { token }),
    )
}

/// The token of this browser, or a new one where it has none of ours, with the cookie that keeps it.
pub fn token(headers: &HeaderMap, policy: &Policy) -> (String, HeaderValue) {
    let present = cookies::only(headers, cookies::CSRF).filter(|value| is_token(value));
    let token = present.map_or_else(random::uuid, str::to_owned);
    let secure = if policy.base_url.scheme() == "https" {
        "; Secure"
    } else {
        ""
    };
    let cookie = cookies::set(cookies::CSRF, &token, None, secure);
    (token, cookie)
}

/// Checks a call that has no bearer token. One that has nothing ambient, neither cookies of ours nor a
/// browser's headers, has nothing to forge and passes.
pub fn check(method: &Method, headers: &HeaderMap, policy: &Policy) -> Result<(), Mismatch> {
    if method.is_safe() {
        return Ok(());
    }
    let has_cookie = |name| !cookies::all(headers, name).is_empty();
    let is_ambient = has_cookie(cookies::SID)
        || has_cookie(cookies::CSRF)
        || headers.contains_key(header::ORIGIN)
        || headers.contains_key("sec-fetch-site");
    if !is_ambient {
        return Ok(());
    }
    check_token(headers, single(headers, HEADER), policy)
}

/// Checks that `presented` (a header or a form's hidden field) is the cookie's value, and the origin.
pub fn check_token(headers: &HeaderMap, presented: Option<&str>, policy: &Policy) -> Result<(), Mismatch> {
    let cookie = cookies::only(headers, cookies::CSRF)
        .filter(|value| !value.is_empty())
        .ok_or(Mismatch)?;
    let presented = presented.ok_or(Mismatch)?;
    if !secret::equal(cookie.as_bytes(), presented.as_bytes()) {
        return Err(Mismatch);
    }
    check_origin(headers, policy)
}

/// `Origin` on the allow-list; without one, `Sec-Fetch-Site` not from elsewhere.
fn check_origin(headers: &HeaderMap, policy: &Policy) -> Result<(), Mismatch> {
    if headers.contains_key(header::ORIGIN) {
        let origin = single(headers, header::ORIGIN.as_str()).ok_or(Mismatch)?;
        return policy
            .allowed_origins
            .iter()
            .any(|allowed| allowed == origin)
            .then_some(())
            .ok_or(Mismatch);
    }
    match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Mismatch),
    }
}

/// Whether it has the form that [`token`] gives: a UUID.
fn is_token(value: &str) -> bool {
    value.len() == 36 && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
