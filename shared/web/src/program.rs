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

/// Returns the routes `/livez`, `/readyz` and `/csrf`. Only `/csrf` is rate-limited and has CORS headers.
pub fn common_routes(
    policy: Arc<Policy>,
    cors: Cors,
    limiter: RateLimiter,
    health: health::Health,
) -> OpenApiRouter {
    let base = policy.url("");
    let csrf_routes = OpenApiRouter::new().routes(routes!(csrf::issue));
    let csrf_routes = rate_limits::limit_by_address(csrf_routes, limiter)
        .layer(from_fn_with_state(cors, cors::add_headers))
        .with_state(policy);
    // `csrf_routes` is merged last, because axum keeps the fallback of the merged router. The CORS layer also
    // covers that fallback, so the 404 of an unknown path has the same headers as the 404 of a missing post.
    let mut common = OpenApiRouter::new()
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .with_state(health)
        .merge(csrf_routes);
    set_server(common.get_openapi_mut(), &base);
    common
}

/// Adds the middleware of every request to the routes of a program: trace id, log line, time limit, error
/// bodies and compression.
pub fn with_middleware(routes: Router, policy: Arc<Policy>) -> Router {
    let panics = CatchPanicLayer::custom(error::from_panic);
    let routes = compression::add_layers(routes.layer(panics)).layer(from_fn(request_log::record_route));
    // `wrap_request` is a layer of a second, outer router, because a router adds Allow and Content-Length
    // outside its own layers.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(policy, request_log::wrap_request))
}
