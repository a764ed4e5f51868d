//! The authorization flow of a browser: the cookie that it is bound to, and the ways in which it ends early.

use super::redirects::see_other;
use crate::app::App;
use crate::pages;
use crate::pages::text::{self, Text};
use crate::paths;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::secret::Secret;
use issuer::clients::documents::DocumentError;
use issuer::flows::{self, Flow, FlowRequest};
use issuer::grants::AuthorizationError;
use issuer::long_requests;
use std::convert::Infallible;
use std::time::Duration;
use storage::db;
use storage::redis::Unavailable;
use web::error::retry_after;
use web::{Error, Policy, cookies};

const COOKIE: &str = "flow";
/// The name of the cookie that keeps a flow for the page behind a mailed link.
const INTERRUPTED_COOKIE: &str = "interrupted_flow";
/// The length of the cookie's value: 32 random bytes in base64url.
const COOKIE_LENGTH: usize = 43;

/// The secret that binds flows to the browser that began them; `None` if the browser has no valid cookie.
pub(crate) struct FlowCookie(Option<Secret>);

impl FlowCookie {
    /// Returns a flow that began in this browser. Fails with [`FlowError::NotFound`] if there is none, or if
    /// the browser has no valid cookie.
    pub(super) async fn find(self, app: &App, flow: &str, now: Timestamp) -> Result<Flow, FlowError> {
        let secret = self.0.ok_or(FlowError::NotFound)?;
        let begun = app.flows.find(flow, &secret, now).await?;
        begun.ok_or(FlowError::NotFound)
    }

    /// Returns the secret, or a new one if the browser has none, and the `Set-Cookie` header that stores it.
    pub(crate) fn or_new(self, policy: &Policy) -> (Secret, HeaderValue) {
        let secret = self.0.unwrap_or_else(random::token);
        let attributes = cookie_attributes(policy);
        let cookie = cookies::set(COOKIE, secret.expose(), Some(flows::LIFETIME), attributes);
        (secret, cookie)
    }

    fn read(headers: &HeaderMap) -> Self {
        let value = cookies::single(headers, COOKIE).filter(|value| value.len() == COOKIE_LENGTH);
        Self(value.map(Secret::new))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for FlowCookie {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::read(&parts.headers))
    }
}

/// The flow that a page belongs to, if it belongs to one.
pub(super) struct PageFlow<'a> {
    /// The value of the parameter `flow`, which each page passes on.
    pub(super) parameter: Option<&'a str>,
    /// The request of the app; `None` if there is no flow, or if it leads to the page for the code of a
    /// device, or is the path of a page.
    pub(super) request: Option<FlowRequest>,
}

impl PageFlow<'_> {
    /// Returns the name of the app that began the flow, if an administrator chose it.
    pub(super) fn app(&self) -> Option<&str> {
        self.request.as_ref()?.client_name.as_deref()
    }
}

/// Returns the flow that a page with this parameter belongs to. Fails with [`FlowError::NotFound`] if the
/// flow cannot go on, so that the page asks nobody for a password.
pub(super) async fn find<'a>(
    app: &App,
    parameter: Option<&'a str>,
    cookie: FlowCookie,
    now: Timestamp,
) -> Result<PageFlow<'a>, FlowError> {
    let request = match parameter {
        None => None,
        Some(paths::PASSKEYS) if app.relying_party.is_none() => return Err(FlowError::NotFound),
        Some(flow) if paths::is_page(flow) => None,
        Some(flow) if paths::is_device_flow(flow) => match &app.grants.device_authorization {
            Some(_) => None,
            None => return Err(FlowError::NotFound),
        },
        Some(flow) => Some(cookie.find(app, flow, now).await?.request),
    };
    Ok(PageFlow { parameter, request })
}

/// Returns the `Set-Cookie` value by which the browser keeps a flow for the page behind a mailed link, whose
/// path is `page`. The browser sends the cookie to that page alone. Without a flow, the value removes the
/// cookie. A flow that is no authorization request counts as none, because it is not bound to the browser.
pub(super) fn interrupted_cookie(flow: Option<&str>, page: &str) -> HeaderValue {
    let (flow, lifetime) = match flow.filter(|flow| paths::is_sealed(flow)) {
        Some(flow) => (flow, flows::LIFETIME),
        None => ("", Duration::ZERO),
    };
    cookies::set_strict(INTERRUPTED_COOKIE, flow, page, lifetime)
}

/// Returns the flow that the browser keeps for this page, if it can still go on. The effect of the page is
/// committed by then, so an error of the database counts as no flow.
pub(super) async fn interrupted(app: &App, headers: &HeaderMap, now: Timestamp) -> Option<String> {
    let flow = cookies::single(headers, INTERRUPTED_COOKIE)?;
    match find(app, Some(flow), FlowCookie::read(headers), now).await {
        Ok(found) => found.request.map(|_| flow.to_owned()),
        Err(FlowError::Database(error)) => {
            tracing::warn!(%error, "an interrupted flow was not found");
            None
        }
        Err(_) => None,
    }
}

/// Returns the cookie that keeps the language which the client asks for (`ui_locales`, OpenID Connect Core
/// 1.0 §3.1.2.1) for the pages that follow. Without a supported one it removes that of an earlier request.
pub(super) fn language_cookie(ui_locales: Option<&str>, policy: &Policy) -> HeaderValue {
    let language = ui_locales.and_then(pages::Language::of_locales);
    let (tag, lifetime) = match language {
        Some(language) => (language.tag(), flows::LIFETIME),
        None => ("", Duration::ZERO),
    };
    let attributes = cookie_attributes(policy);
    cookies::set(pages::LANGUAGE_COOKIE, tag, Some(lifetime), attributes)
}

/// Returns the attributes of the cookies of a flow.
fn cookie_attributes(policy: &Policy) -> &'static str {
    match policy.base_url.scheme() {
        "https" => "; HttpOnly; Secure",
        _ => "; HttpOnly",
    }
}

/// The reason why a flow does not continue on the requested page.
pub(crate) enum FlowError {
    /// The flow is finished, expired, unknown, or bound to another browser.
    NotFound,
    /// The authorization request failed.
    Authorization(AuthorizationError),
    /// The database failed.
    Database(db::Error),
    /// Another response takes the place of the page: a redirect to the page that must come first, or an
    /// error.
    Response(Response),
}

impl IntoResponse for FlowError {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound | Self::Authorization(AuthorizationError::FlowFinished) => {
                let text = text::of("flow-not-found");
                pages::error(StatusCode::BAD_REQUEST, &text, paths::ACCOUNT)
            }
            Self::Authorization(
                AuthorizationError::Page(message)
                | AuthorizationError::Document(DocumentError::Unusable(message)),
            ) => pages::error_of_app(&text::of("invalid-authorization"), &message, paths::ACCOUNT),
            Self::Authorization(AuthorizationError::Redirect(response)) => see_other(&response.redirect),
            Self::Authorization(AuthorizationError::SessionEnded) => see_other(paths::SIGN_IN),
            Self::Authorization(AuthorizationError::Document(DocumentError::TooMany { retry_after })) => {
                too_many(text::of("too-many-documents"), retry_after)
            }
            Self::Authorization(AuthorizationError::Document(DocumentError::StoreUnavailable(error))) => {
                unavailable(&error)
            }
            Self::Authorization(
                AuthorizationError::Database(error)
                | AuthorizationError::Document(DocumentError::Database(error)),
            )
            | Self::Database(error) => Error::from(error).into_response(),
            Self::Authorization(error @ AuthorizationError::Read(_)) => {
                Error::internal(&error).into_response()
            }
            Self::Response(response) => response,
        }
    }
}

fn too_many(text: Text<'_>, delay: Duration) -> Response {
    let text = text.with("wait", text::duration(delay));
    let page = pages::error(StatusCode::TOO_MANY_REQUESTS, &text, paths::ACCOUNT);
    ([(header::RETRY_AFTER, retry_after(delay))], page).into_response()
}

/// The address of the page itself.
const REPEAT: &str = "";

fn unavailable(error: &Unavailable) -> Response {
    tracing::error!(%error, "authorization flow state unavailable");
    let text = text::of("flow-unavailable");
    let page = pages::error(StatusCode::SERVICE_UNAVAILABLE, &text, REPEAT);
    ([(header::RETRY_AFTER, "1")], page).into_response()
}

impl From<long_requests::Error> for FlowError {
    fn from(error: long_requests::Error) -> Self {
        match error {
            long_requests::Error::TooMany { retry_after } => {
                let text = text::of("too-many-long-requests");
                Self::Response(too_many(text, retry_after))
            }
            long_requests::Error::Database(error) => Self::Database(error),
        }
    }
}

impl From<AuthorizationError> for FlowError {
    fn from(error: AuthorizationError) -> Self {
        Self::Authorization(error)
    }
}

impl From<Error> for FlowError {
    fn from(error: Error) -> Self {
        Self::Response(error.into_response())
    }
}

impl From<db::Error> for FlowError {
    fn from(error: db::Error) -> Self {
        Self::Database(error)
    }
}
