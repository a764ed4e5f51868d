//! The routes and the middleware that a program has exactly once, even if it runs both servers.

use crate::context::record_route;
use crate::error::Error;
use crate::openapi::set_server;
use crate::{Cors, Policy, compression, cors, csrf, health, host, rate_limits, request_log, wrong_clock};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{Method, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;
use storage::clock_check::{ClockCheck, ClockDiffers};
use storage::rate_limits::RateLimiter;
use tower::util::MapRequestLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Returns the routes `/livez` and `/readyz`, which have no CORS headers, and the response to unknown paths,
/// which has them.
pub fn common_routes(policy: &Policy, cors: Cors, health: health::Health) -> OpenApiRouter {
    // The layer of a router without routes covers its fallback, so the 404 of an unknown path has the same
    // headers as the 404 of a missing post. axum keeps the fallback of the merged router.
    let unknown_paths = OpenApiRouter::new().layer(from_fn_with_state(cors, cors::add_headers));
    let mut common = OpenApiRouter::new()
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .with_state(health)
        .merge(unknown_paths);
    set_server(common.get_openapi_mut(), &policy.url(""));
    common
}

/// Returns the route `/csrf` for a program without the API, which has it among its own routes.
pub fn csrf_route(policy: Arc<Policy>, cors: Cors, limiter: RateLimiter) -> OpenApiRouter {
    let route = OpenApiRouter::new().routes(routes!(csrf::issue));
    rate_limits::limit_by_address(route, limiter)
        .route_layer(from_fn_with_state(cors, cors::add_headers))
        .with_state(policy)
}

/// A program's routes with the middleware of every request: trace id, log line, time limit, error bodies, the
/// checks of the host and the clock, compression, and the memory of large responses. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    routes: Router,
    policy: Arc<Policy>,
    clock: ClockCheck,
    is_traced: bool,
}

impl Program {
    /// Returns the program with these routes. While the clock differs from that of the database, only the
    /// health checks and the requests in the table of the module `wrong_clock` are served.
    pub fn new(routes: Router, policy: Arc<Policy>, clock: ClockCheck) -> Self {
        Self {
            routes: routes.layer(MapRequestLayer::new(record_route)),
            policy,
            clock,
            is_traced: false,
        }
    }

    /// Returns the program with or without spans of its requests.
    #[must_use]
    pub fn traced(self, is_traced: bool) -> Self {
        Self { is_traced, ..self }
    }

    /// Handles a request. The steps are calls and not layers of the router, because each layer of an axum
    /// router costs allocations, and because the router adds `Allow` and `Content-Length` outside its own
    /// layers.
    pub async fn handle(self, request: Request) -> Response {
        let clock = self.clock.clock_for_request().await;
        let is_head = *request.method() == Method::HEAD;
        let respond = |mut request: Request| async move {
            if let Err(error) = host::check(&request) {
                return error.into_response();
            }
            let path = request.uri().path();
            let is_served = match clock {
                Ok(clock) => !clock.differs() || wrong_clock::serves(request.method(), path),
                Err(ClockDiffers) => false,
            };
            if !is_served && !health::PATHS.contains(&path) {
                return Error::dependency_unavailable().into_response();
            }
            if is_head {
                // The router would remove the body before its length, its entity tag and its compression are
                // known.
                *request.method_mut() = Method::GET;
            }
            compression::negotiate(self.routes, request).await
        };
        let (policy, is_traced) = (&self.policy, self.is_traced);
        let response =
            request_log::wrap(policy, is_traced, clock.unwrap_or_default(), request, respond).await;
        match is_head {
            true => without_body(response),
            false => response,
        }
    }
}

/// Returns the response to `HEAD` for a response to `GET`.
fn without_body(mut response: Response) -> Response {
    if let Some(length) = response.body().size_hint().exact() {
        let headers = response.headers_mut();
        headers
            .entry(header::CONTENT_LENGTH)
            .or_insert_with(|| length.into());
    }
    response.map(|_| Body::empty())
}
