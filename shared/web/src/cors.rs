//! Who may read answers from another origin: the `Access-Control-…` headers (Fetch standard §3.3).
//!
//! Pages and `/authorize` have none of this: a browser goes there, it does not fetch them.

use crate::headers::single;
use crate::{DeferredHeaders, Policy};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use identity::grants::origins::{Origins, Party};
use std::sync::Arc;

/// What a page may send along.
const REQUEST_HEADERS: &str = "authorization, content-type, if-match, if-none-match, idempotency-key, \
                               x-csrf-token, accept, traceparent";
/// What a page may read of an answer beside what any page may.
const RESPONSE_HEADERS: &str = "etag, location, link, x-correlation-id, retry-after, ratelimit, \
                                ratelimit-policy, idempotent-replayed, deprecation, sunset, www-authenticate";
/// How long a browser may keep the answer to a preflight, in seconds.
const MAX_AGE: &str = "600";

/// Whose pages may read the answers of some routes.
#[derive(Clone, Debug)]
pub enum Cors {
    /// Everybody's, without cookies: documents that are public.
    Anyone,
    /// Those of our own origins and of registered single-page apps; with cookies only what is ours.
    Registered {
        /// Our own origins.
        policy: Arc<Policy>,
        /// The apps'.
        origins: Origins,
    },
}

/// Middleware: promises the headers for the origin that asks. One that is not known gets none, and is
/// served like any caller that is no browser.
pub async fn share(State(cors): State<Cors>, request: Request, next: Next) -> Response {
    if let Some(promised) = request.extensions().get::<DeferredHeaders>() {
        if let Cors::Registered { .. } = cors {
            promised.add(header::VARY, HeaderValue::from_static("Origin"));
        }
        if let Some((origin, is_ours)) = cors.reader(request.headers()).await {
            promise(promised, origin, is_ours, is_preflight(&request));
        }
    }
    next.run(request).await
}

impl Cors {
    /// The origin that may read, and whether it may do so with cookies.
    async fn reader(&self, headers: &HeaderMap) -> Option<(HeaderValue, bool)> {
        let origin = single(headers, header::ORIGIN.as_str())?;
        let is_ours = match self {
            Self::Anyone => return Some((HeaderValue::from_static("*"), false)),
            Self::Registered { policy, .. } if policy.allowed_origins.iter().any(|ours| ours == origin) => {
                true
            }
            Self::Registered { origins, .. } => origins.party(origin).await? == Party::First,
        };
        Some((HeaderValue::from_str(origin).ok()?, is_ours))
    }
}

fn promise(promised: &DeferredHeaders, origin: HeaderValue, with_cookies: bool, is_preflight: bool) {
    let say = |name: HeaderName, value: &'static str| promised.add(name, HeaderValue::from_static(value));
    promised.add(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if with_cookies {
        say(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    }
    if is_preflight {
        // The methods are added where they are known.
        say(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        say(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    } else {
        say(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}
