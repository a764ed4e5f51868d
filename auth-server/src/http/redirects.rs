//! Redirects between pages.

use crate::pages::Done;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use foundation::urls::origin_of;
use issuer::long_requests::MAX_TEXT_LENGTH;
use std::sync::Arc;
use url::Url;
use web::{Error, Policy, cookies};

/// Redirects with 303, so that the browser follows with GET and never repeats a form (RFC 9700 §4.12).
pub(crate) fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(error) => Error::internal(&error).into_response(),
    }
}

/// Redirects like [`see_other`] after a change that succeeded, which the next page reports.
pub(crate) fn see_other_after(change: Done, to: &str) -> Response {
    (cookies::header_of(change.cookie()), see_other(to)).into_response()
}

/// Middleware for pages on a local machine: redirects a request under another local name (127.0.0.1 for
/// localhost) to the host of the base URL, because cookies belong to one host name.
pub(crate) async fn to_base_host(
    State(policy): State<Arc<Policy>>,
    request: Request,
    next: Next,
) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let requested = host.and_then(|host| Url::parse(&format!("http://{host}")).ok());
    let is_local = |url: &Url| matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    match requested {
        Some(requested)
            if request.method().is_safe()
                && is_local(&requested)
                && is_local(&policy.base_url)
                && path.len() <= MAX_TEXT_LENGTH
                && requested.host_str() != policy.base_url.host_str() =>
        {
            see_other(&format!("{}{path}", origin_of(&policy.base_url)))
        }
        _ => next.run(request).await,
    }
}
