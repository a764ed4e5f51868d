//! The routes and the middleware that every program has once, whichever services it runs.

use crate::error;
use crate::{Cors, Policy, compression, cors, csrf, health, openapi, rate_limits, request_log};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes that each program has once, whichever services it runs.
pub fn common_routes(
    policy: Arc<Policy>,
    cors: Cors,
    limiter: RateLimiter,
    health: health::Health,
) -> OpenApiRouter {
    let base = policy.url("");
    let token = OpenApiRouter::new().routes(routes!(csrf::issue));
    let token = rate_limits::limit_by_address(token, limiter)
        .layer(from_fn_with_state(cors, cors::share))
        .with_state(policy);
    // Merged last, for its fallback: where nothing is, the 404 is the same as that of a missing post.
    let mut common = OpenApiRouter::new()
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .with_state(health)
        .merge(token);
    openapi::unversioned(common.get_openapi_mut(), &base);
    common
}

/// Wraps a program's routes in what surrounds every request: trace id, log, time limit, error bodies,
/// content coding.
pub fn finish(routes: Router, policy: Arc<Policy>) -> Router {
    let panics = CatchPanicLayer::custom(error::from_panic);
    let routes = compression::layers(routes.layer(panics)).layer(from_fn(request_log::record_route));
    // A router of its own, because the one inside adds Allow and Content-Length after its layers.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(policy, request_log::surround))
}
