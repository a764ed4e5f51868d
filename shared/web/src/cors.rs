//! CORS: the `Access-Control-…` headers (Fetch standard §3.3).
//!
//! The HTML pages and `/authorize` do not use this middleware, because browsers navigate to them and scripts
//! do not fetch them.

use crate::headers::single;
use crate::{DeferredHeaders, Policy};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use identity::origins::{Origins, Party};
use std::sync::Arc;

/// The request headers that a page may send: those that the API reads, and those that libraries for tracing,
/// MCP clients and older JavaScript libraries add by themselves.
const REQUEST_HEADERS: &str = "authorization, dpop, content-type, if-match, if-none-match, idempotency-key, \
                               x-csrf-token, accept, traceparent, tracestate, baggage, sentry-trace, \
                               x-requested-with, mcp-protocol-version";
/// The longest list of request headers that a preflight response repeats, in bytes.
const MAX_REPEATED: usize = 1024;
/// The response headers that a page may read, in addition to those that the Fetch standard always exposes.
const RESPONSE_HEADERS: &str = "etag, location, link, x-correlation-id, retry-after, ratelimit, \
                                ratelimit-policy, idempotent-replayed, deprecation, sunset, www-authenticate, dpop-nonce";
/// The lifetime of a preflight response in the browser's cache, in seconds.
const MAX_AGE: &str = "600";

/// The paths to which a page of a client with a refresh token in a cookie may send cookies.
const REFRESH_COOKIE_PATHS: [&str; 4] = ["/csrf", "/v1/csrf", "/token", "/token/revoke"];

/// The origins whose pages may read the responses of a set of routes.
#[derive(Clone, Debug)]
pub enum Cors {
    /// Any origin, without cookies. For public documents.
    AnyOrigin,
    /// The trusted origins of the policy and the origins of registered single-page apps. The trusted origins
    /// and those of first-party apps may send cookies; those of apps with a refresh token in a cookie may
    /// send cookies to the routes that read it.
    KnownOrigins {
        /// The policy with the trusted origins.
        policy: Arc<Policy>,
        /// The origins of the registered apps.
        origins: Origins,
    },
}

/// An origin that may read a response.
struct AllowedOrigin {
    /// The value of `Access-Control-Allow-Origin`.
    value: HeaderValue,
    with_credentials: bool,
}

/// Middleware: adds the CORS headers if the request comes from an allowed origin.
pub async fn add_headers(State(cors): State<Cors>, request: Request, next: Next) -> Response {
    next.run(cors.add_to_response(request).await).await
}

impl Cors {
    /// Adds the CORS headers to the response if the request comes from an allowed origin. A request from any
    /// other origin is handled as usual, but the browser does not let the page read the response. Takes the
    /// request and returns it, because its body cannot be shared between threads.
    pub(crate) async fn add_to_response(&self, request: Request) -> Request {
        let (parts, body) = request.into_parts();
        if let Some(deferred) = parts.extensions.get::<DeferredHeaders>() {
            if let Self::KnownOrigins { .. } = self {
                deferred.add(header::VARY, HeaderValue::from_static("Origin"));
            }
            if let Some(origin) = self.allowed_origin(parts.uri.path(), &parts.headers).await {
                let is_preflight = is_preflight(&parts.method, &parts.headers);
                let request_headers = is_preflight.then(|| self.request_headers(&parts.headers));
                add_cors_headers(deferred, origin, request_headers);
            }
        }
        Request::from_parts(parts, body)
    }

    /// Returns the request headers that a page may send. For public documents, whatever the preflight asks
    /// for, if it is short and ASCII.
    fn request_headers(&self, preflight: &HeaderMap) -> HeaderValue {
        let asked = preflight.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
        let is_repeatable = |names: &&HeaderValue| names.len() <= MAX_REPEATED && names.to_str().is_ok();
        match (self, asked.filter(is_repeatable)) {
            (Self::AnyOrigin, Some(asked)) => asked.clone(),
            _ => HeaderValue::from_static(REQUEST_HEADERS),
        }
    }

    /// Returns the allowed origin of a request; `None` without an `Origin` header or for an unknown origin.
    async fn allowed_origin(&self, path: &str, headers: &HeaderMap) -> Option<AllowedOrigin> {
        let origin = single(headers, header::ORIGIN.as_str())?;
        if let Self::AnyOrigin = self {
            return Some(AllowedOrigin {
                value: HeaderValue::from_static("*"),
                with_credentials: false,
            });
        }
        let with_credentials = match self.party(origin).await? {
            Party::First => true,
            Party::ThirdWithCookie => REFRESH_COOKIE_PATHS.contains(&path),
            Party::Third => false,
        };
        let value = HeaderValue::from_str(origin).ok()?;
        Some(AllowedOrigin {
            value,
            with_credentials,
        })
    }

    /// Returns whether pages of `origin`, the value of an `Origin` header, may send cookies to every route.
    pub(crate) async fn trusts(&self, origin: &str) -> bool {
        self.party(origin).await == Some(Party::First)
    }

    /// Returns the party of an origin; `None` if it is unknown. The trusted origins of the policy count as
    /// first-party.
    async fn party(&self, origin: &str) -> Option<Party> {
        match self {
            Self::AnyOrigin => None,
            Self::KnownOrigins { policy, .. } if policy.trusts_origin(origin) => Some(Party::First),
            Self::KnownOrigins { origins, .. } => origins.party(origin).await,
        }
    }
}

/// Adds the headers of a response, or with `request_headers` those of a preflight response.
fn add_cors_headers(deferred: &DeferredHeaders, origin: AllowedOrigin, request_headers: Option<HeaderValue>) {
    let add = |name: HeaderName, value: &'static str| deferred.add(name, HeaderValue::from_static(value));
    deferred.add(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.value);
    if origin.with_credentials {
        add(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    }
    if let Some(names) = request_headers {
        // The module allowed_methods adds Access-Control-Allow-Methods from the router's Allow header.
        deferred.add(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
        add(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    } else {
        add(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    }
}

fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}
