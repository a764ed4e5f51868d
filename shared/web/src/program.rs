//! The routes and the middleware that every program has exactly once, even if it runs both servers.

use crate::openapi::set_server;
use crate::{Cors, Policy, compression, cors, csrf, error, health, rate_limits, request_log};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use std::sync::Arc;
use storage::rate_limits::RateLimiter;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Returns the routes `/livez`, `/readyz` and `/csrf`.
pub fn common_routes(
    policy: Arc<Policy>,
    cors: Cors,
    limiter: RateLimiter,
    health: health::Health,
) -> OpenApiRouter {
    let base = policy.url("");
    let token = OpenApiRouter::new().routes(routes!(csrf::issue));
    let token = rate_limits::limit_by_address(token, limiter)
        .layer(from_fn_with_state(cors, cors::add_headers))
        .with_state(policy);
    // Merged last, because axum keeps the fallback of the merged router. The CORS layer of `token`
    // also covers its fallback, so the 404 of an unknown path has the same headers as that of a missing post.
    let mut common = OpenApiRouter::new()
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .with_state(health)
        .merge(token);
    set_server(common.get_openapi_mut(), &base);
    common
}

/// Adds the middleware of every request to the routes of a program: trace id, log line, time limit, error
/// bodies and compression.
pub fn with_middleware(routes: Router, policy: Arc<Policy>) -> Router {
    let panics = CatchPanicLayer::custom(error::from_panic);
    let routes = compression::add_layers(routes.layer(panics)).layer(from_fn(request_log::record_route));
    // The middleware goes around a second router, because the inner one adds Allow and Content-Length outside
    // its layers.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(policy, request_log::wrap_request))
}
