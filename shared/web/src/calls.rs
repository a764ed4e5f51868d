//! The middleware of the routes that scripts and programs call.

use crate::challenges::{Route, RouteScopes};
use crate::context::request_context;
use crate::{Cors, dpop, error, rate_limits};
use audit::events::EventRecorder;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;

/// Calls a route: adds the CORS headers, counts the request under the client's address, records the security event of
/// an error response, and names the route's scope in a 401. One middleware of the router does all this, because each layer of an
/// axum router costs about nine allocations per request.
pub async fn handle(
    cors: &Cors,
    limiter: &RateLimiter,
    events: &EventRecorder,
    scopes: &RouteScopes,
    request: Request,
    next: Next,
) -> Response {
    let request = cors.add_to_response(request).await;
    let context = match request_context(request.extensions()) {
        Ok(context) => Arc::clone(context),
        Err(error) => return error.into_response(),
    };
    if let Err(error) = rate_limits::count_address(limiter, &request) {
        return error.into_response();
    }
    let (route, is_dpop) = (Route::of(&request), dpop::has_scheme(request.headers()));
    let response = dpop::adapt_challenge(is_dpop, next.run(request).await);
    let mut response = error::record_security_event(events, &context, response).await;
    scopes.name_in(&mut response, route);
    response
}
