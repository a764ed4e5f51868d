//! The middleware of the routes that scripts and programs call.

use crate::challenges::{Route, RouteCredentials};
use crate::context::request_context;
use crate::{Cors, dpop, rate_limits, security_events};
use audit::events::EventRecorder;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;

/// Calls a route: adds the CORS headers, counts the request under the client's address, records the security
/// event of an error response, and names the route's scope in a 401. One middleware of the router does all
/// this, because each layer of an axum router costs about nine allocations per request.
pub async fn handle(
    cors: &Cors,
    limiter: &RateLimiter,
    events: &EventRecorder,
    credentials: &RouteCredentials,
    request: Request,
    next: Next,
) -> Response {
    let mut request = cors.add_to_response(request).await;
    let context = match request_context(request.extensions()) {
        Ok(context) => Arc::clone(context),
        Err(error) => return error.into_response(),
    };
    let route = Route::of(&request);
    let pending = match rate_limits::count_call(limiter, &mut request, credentials, &route) {
        Ok(pending) => pending,
        Err(error) => return error.into_response(),
    };
    let is_dpop = dpop::has_scheme(request.headers());
    let response = dpop::adapt_challenge(is_dpop, next.run(request).await);
    if let Some(limited) = pending.and_then(|pending| pending.unless_authenticated()) {
        return limited.into_response();
    }
    let mut response = security_events::record(events, &context, response).await;
    credentials.name_scope_in(&mut response, &route);
    response
}
