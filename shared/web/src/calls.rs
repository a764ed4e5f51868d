//! The middleware of the routes that scripts and programs call.

use crate::context::request_context;
use crate::{Cors, error, rate_limits};
use audit::events::EventRecorder;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;

/// Calls a route: adds the CORS headers, counts the request under the client's address, and records the security event of
/// an error response. One middleware of the router does all three, because each layer of an axum router costs about
/// nine allocations per request.
pub async fn handle(
    cors: &Cors,
    limiter: &RateLimiter,
    events: &EventRecorder,
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
    error::record_security_event(events, &context, next.run(request).await).await
}
