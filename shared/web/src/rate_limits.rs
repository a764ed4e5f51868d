//! Rate limits over HTTP: the `RateLimit` and `RateLimit-Policy` headers
//! (draft-ietf-httpapi-ratelimit-headers) and 429.

use crate::challenges::{CredentialKind, Route, RouteCredentials};
use crate::context::request_context;
use crate::error::{Code, Error};
use crate::openapi::error_responses::add_to_operations;
use crate::{DeferredHeaders, bearer, error};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::rate_limits::{Decision, RateLimiter, WINDOW};
use utoipa_axum::router::OpenApiRouter;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Limits the requests to these routes per client address, and documents the 429 response of each operation.
pub fn limit_by_address<S: Clone + Send + Sync + 'static>(
    routes: OpenApiRouter<S>,
    limiter: RateLimiter,
) -> OpenApiRouter<S> {
    document(routes.route_layer(from_fn_with_state(limiter, by_address)))
}

/// Documents the 429 response of each operation.
pub fn document<S: Clone + Send + Sync + 'static>(mut routes: OpenApiRouter<S>) -> OpenApiRouter<S> {
    add_to_operations(routes.get_openapi_mut(), &[Code::RateLimited]);
    routes
}

/// The pending decision about a request from an address that is over its limit. The limit does not concern it
/// if its credentials are accepted.
#[derive(Clone, Debug)]
pub(crate) struct PendingDecision {
    limited: Error,
    is_authenticated: Arc<AtomicBool>,
}

impl PendingDecision {
    /// Returns the 429, unless the credentials of the request were accepted.
    pub(crate) fn unless_authenticated(&self) -> Option<Error> {
        (!self.is_authenticated.load(Ordering::Relaxed)).then(|| self.limited.clone())
    }
}

/// Middleware: counts the request under the client's address.
async fn by_address(State(limiter): State<RateLimiter>, request: Request, next: Next) -> Response {
    match count_address(&limiter, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Counts the request under the client's address. `OPTIONS` requests, such as CORS preflights, are not
/// counted. Fails with 429 if the address is over its limit.
pub(crate) fn count_address(limiter: &RateLimiter, request: &Request) -> Result<(), Error> {
    let context = request_context(request.extensions())?;
    match context.address {
        Some(address) if request.method() != Method::OPTIONS => {
            apply(limiter.by_address(address, context.now), request.extensions())
        }
        _ => Ok(()),
    }
}

/// Counts a call under the client's address, like [`count_address`]. If the address is over its limit, a call
/// with credentials of the kind that the route needs is decided when they are checked: the back end of an app
/// calls for all its users from one address, and others at that address must not be able to stop it. Of a
/// flood, nothing is let through.
pub(crate) fn count_call(
    limiter: &RateLimiter,
    request: &mut Request,
    credentials: &RouteCredentials,
    route: &Route,
) -> Result<Option<PendingDecision>, Error> {
    let context = Arc::clone(request_context(request.extensions())?);
    let address = context.address.filter(|_| request.method() != Method::OPTIONS);
    let Some(decision) = address.and_then(|address| limiter.by_address(address, context.now)) else {
        return Ok(None);
    };
    let is_flood = decision.is_flood;
    match apply(Some(decision), request.extensions()) {
        Err(limited) if !is_flood && may_authenticate(request, credentials.kind(route)) => {
            let pending = PendingDecision {
                limited,
                is_authenticated: Arc::default(),
            };
            request.extensions_mut().insert(pending.clone());
            Ok(Some(pending))
        }
        counted => counted.map(|()| None),
    }
}

/// Returns whether a request has credentials of this kind, or may have them in its body. Without them, the
/// route has no effect.
fn may_authenticate(request: &Request, credentials: Option<CredentialKind>) -> bool {
    match credentials {
        // They may be in the body. Before it acts for a client without credentials, the route calls
        // `require_address`.
        Some(CredentialKind::Client) => true,
        // Other schemes are ignored, so that the request could have an effect by its cookie.
        Some(CredentialKind::Token) => matches!(bearer::token(request.headers()), Ok(Some(_))),
        None => false,
    }
}

/// Fails with 429 if the decision about the request is pending, because its client has no credentials.
pub fn require_address(extensions: &Extensions) -> Result<(), Error> {
    match extensions.get::<PendingDecision>() {
        Some(pending) => Err(pending.limited.clone()),
        None => Ok(()),
    }
}

/// Takes back the count of the request under the address from which it came, because its credentials were
/// accepted.
fn settle_address(limiter: &RateLimiter, extensions: &Extensions) -> Result<(), Error> {
    let context = request_context(extensions)?;
    if let Some(address) = context.address {
        limiter.take_back_from_address(address, context.now);
    }
    if let Some(deferred) = extensions.get::<DeferredHeaders>() {
        deferred.remove(&RATE_LIMIT_POLICY);
        deferred.remove(&RATE_LIMIT);
    }
    if let Some(pending) = extensions.get::<PendingDecision>() {
        pending.is_authenticated.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Counts the request of a client that has authenticated under the client and no longer under the address
/// from which it came. Fails with 429 if the client is over its limit.
pub fn by_client(limiter: &RateLimiter, extensions: &Extensions, client_id: &str) -> Result<(), Error> {
    settle_address(limiter, extensions)?;
    let decision = limiter.by_client(client_id, request_context(extensions)?.now);
    apply(decision, extensions)
}

/// Counts the request under its principal, and adds the `RateLimit` headers to its response. The principal is
/// a user (`client_id` is empty), a client (`user_id` is `None`), or a user with a client. With an access
/// token, so with a client, the request is no longer counted under the address from which it came. Fails with
/// 429 if the principal is over its limit.
pub fn by_principal(
    limiter: &RateLimiter,
    parts: &Parts,
    user_id: Option<i64>,
    client_id: &str,
) -> Result<(), Error> {
    if !limiter.is_on() {
        return Ok(());
    }
    if !client_id.is_empty() {
        settle_address(limiter, &parts.extensions)?;
    }
    let context = request_context(&parts.extensions)?;
    let user_id = user_id.map(|id| id.to_string()).unwrap_or_default();
    let principal = format!("{user_id}/{client_id}");
    let decision = limiter.by_principal(&principal, parts.method.is_safe(), context.now);
    apply(decision, &parts.extensions)
}

/// Adds the `RateLimit` headers of a decision to the response. Fails with 429 if the request is over its
/// limit. Does nothing if `decision` is `None`, because requests are then not limited.
fn apply(decision: Option<Decision>, extensions: &Extensions) -> Result<(), Error> {
    let Some(decision) = decision else {
        return Ok(());
    };
    let (name, quota, window) = (decision.limit.name, decision.limit.quota, WINDOW.as_secs());
    let resets_in_seconds = error::retry_after(decision.resets_in);
    if let Some(deferred) = extensions.get::<DeferredHeaders>() {
        let policy = format!(r#""{name}";q={quota};w={window}"#);
        let remaining = format!(r#""{name}";r={};t={resets_in_seconds}"#, decision.remaining);
        for (header, value) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, remaining)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                deferred.add(header, value);
            }
        }
    }
    if decision.is_allowed {
        return Ok(());
    }
    Err(Error::new(
        Code::RateLimited,
        format!("Too many requests. The limit is {quota} per minute. Try again in {resets_in_seconds} s."),
    )
    .retry_after(decision.resets_in))
}
