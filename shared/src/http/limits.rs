//! Rate limits on the wire: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers), 429.

use super::error::{Code, Error};
use super::{Promised, error};
use crate::events::Context;
use crate::limits::{LENGTH, Limits, Taken};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Middleware: counts the request for its address. A preflight is the browser's own and does not count.
pub async fn by_address(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let context = request.extensions().get::<Context>();
    let taken = context
        .filter(|_| request.method() != Method::OPTIONS)
        .and_then(|context| limits.by_address(context.address?, context.now));
    match tell(taken, request.extensions()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Counts the request for the one who was just authenticated, by a name of theirs; 429 if they made too many.
pub fn by_principal(limits: &Limits, principal: &str, parts: &Parts) -> Result<(), Error> {
    let context = parts.extensions.get::<Context>();
    let is_read = parts.method.is_safe();
    let taken = context.and_then(|context| limits.by_principal(principal, is_read, context.now));
    tell(taken, &parts.extensions)
}

/// Promises the headers that say what is left.
fn tell(taken: Option<Taken>, extensions: &Extensions) -> Result<(), Error> {
    let Some(taken) = taken else {
        return Ok(());
    };
    let (name, quota, window) = (taken.limit.name, taken.limit.quota, LENGTH.as_secs());
    let resets_in = error::retry_after(taken.resets_in);
    if let Some(promised) = extensions.get::<Promised>() {
        let policy = format!(r#""{name}";q={quota};w={window}"#);
        let left = format!(r#""{name}";r={};t={resets_in}"#, taken.remaining);
        for (header, value) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, left)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                promised.add(header, value);
            }
        }
    }
    if taken.is_granted {
        return Ok(());
    }
    Err(Error::new(
        Code::RateLimited,
        format!("Too many requests: {quota} a minute are allowed here. Try again in {resets_in} s."),
    )
    .retry_after(taken.resets_in))
}
