//! Extractors of parameters: from forms, from queries, and from either.

use super::browser;
use crate::pages::{self, text};
use crate::paths;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use identity::Identity;
use identity::sessions::Session;
use issuer::params::{Params, ReadError};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use web::{Error, Policy, body, csrf, error_responses};

/// A form that carries the anti-forgery token.
pub(crate) trait CsrfProtected {
    fn csrf(&self) -> &str;

    /// Returns the id of the user to whom the page was shown; `None` if the form may be submitted by another
    /// user too.
    fn user(&self) -> Option<&str> {
        None
    }
}

/// A submitted page form, its anti-forgery token and origin verified. Rejects with 415 (not form-encoded),
/// 413 (too large), 408 (too slow), 400 (repeated, too many or unreadable parameters) and 403 (forged).
pub(crate) struct PageForm<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + CsrfProtected> FromRequest<S> for PageForm<T>
where
    Arc<Policy>: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (_, form) = read_page_form(request, &Arc::from_ref(state)).await?;
        Ok(Self(form))
    }
}

/// The session of the browser, if it has one, and its submitted form. The session is looked up when the form
/// is complete, because it may end while the form arrives. Rejects like [`PageForm`], if the session cannot
/// be looked up, and with 409 if the form was shown to another user, who has signed out in another tab since.
pub(crate) struct SessionForm<T>(pub(super) Option<Session>, pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + CsrfProtected + Send> FromRequest<S> for SessionForm<T>
where
    Arc<Policy>: FromRef<S>,
    Identity: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (parts, form) = read_page_form::<T>(request, &Arc::from_ref(state)).await?;
        let session = browser::find_session(&parts, &Identity::from_ref(state)).await;
        let session = session.map_err(browser::rejection)?;
        match (&session, form.user()) {
            (Some(session), Some(user)) if session.user.id.to_string() != user => Err(user_changed()),
            _ => Ok(Self(session, form)),
        }
    }
}

/// The query of a page. If a parameter is repeated, its first value is read.
pub(crate) struct PageQuery<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for PageQuery<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        query(parts).read().map(Self).map_err(internal)
    }
}

/// The parameters of a request that a client makes through the browser, from the query of a GET or the form
/// of a POST (RFC 6749 §3.1), not yet checked.
pub(crate) struct FormOrQuery(pub(super) Params);

error_responses!(FormOrQuery: MalformedJson, PayloadTooLarge, RequestTimeout, UnsupportedMediaType;);

impl<S: Send + Sync> FromRequest<S> for FormOrQuery {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        if request.method() == Method::POST {
            let (_, params) = read_form(request).await?;
            return Ok(Self(params));
        }
        let (parts, _) = request.into_parts();
        Ok(Self(query(&parts)))
    }
}

/// Reads the form of a page, and verifies its anti-forgery token and origin. Rejects like [`PageForm`].
async fn read_page_form<T: DeserializeOwned + CsrfProtected>(
    request: Request,
    policy: &Arc<Policy>,
) -> Result<(Parts, T), Response> {
    let (parts, params) = read_form(request).await?;
    if let Some(flaw) = params.flaw() {
        return Err(unreadable(flaw));
    }
    let form: T = params.read().map_err(internal)?;
    csrf::check_form(&parts.headers, form.csrf(), policy).map_err(forged)?;
    if paths::shows_its_form(parts.uri.path()) {
        pages::remember_form(&paths::of_flow(parts.uri.path(), params.get("flow")));
    }
    Ok((parts, form))
}

/// Reads a form-encoded body.
async fn read_form(request: Request) -> Result<(Parts, Params), Response> {
    let (parts, body) = request.into_parts();
    if body::media_type(&parts.headers).as_deref() != Some("application/x-www-form-urlencoded") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response());
    }
    let bytes = body::read(&parts, body, body::DEFAULT_LIMIT)
        .await
        .map_err(IntoResponse::into_response)?;
    Ok((parts, Params::from_form(&bytes)))
}

fn query(parts: &Parts) -> Params {
    Params::from_form(parts.uri.query().unwrap_or_default().as_bytes())
}

fn unreadable(flaw: &str) -> Response {
    let detail = format!("The form was not accepted: {flaw}.");
    pages::error_of_form(
        StatusCode::BAD_REQUEST,
        &text::of("form-unreadable"),
        Some(&detail),
    )
}

fn user_changed() -> Response {
    pages::error(StatusCode::CONFLICT, &text::of("user-changed"), paths::ACCOUNT)
}

fn forged(mismatch: csrf::Mismatch) -> Response {
    let mut page = pages::error_of_form(StatusCode::FORBIDDEN, &text::of("form-forged"), None);
    // The security event is recorded from the error, and the user sees the page.
    page.extensions_mut().insert(Error::from(mismatch));
    page
}

#[allow(clippy::needless_pass_by_value, reason = "the signature is map_err's")]
fn internal(error: ReadError) -> Response {
    Error::internal(&error).into_response()
}
