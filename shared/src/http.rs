//! What every HTTP answer of both services has in common. Knows axum, never SQL.

pub mod address;
pub mod body;
mod coding;
pub mod cookies;
pub mod cors;
pub mod csrf;
pub mod error;
pub mod etag;
pub mod health;
pub mod json;
pub mod limits;
mod methods;
mod negotiate;
mod observe;
pub mod openapi;
mod promised;

pub use body::JsonBody;
pub use cors::Cors;
pub use error::{Code, Error};
pub use promised::Promised;

use crate::limits::Limits;
use axum::Router;
use axum::http::HeaderMap;
use axum::middleware::{from_fn, from_fn_with_state};
use ipnet::IpNet;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use url::Url;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What the origin of this service is and whom it trusts. Shared by all handlers.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where clients reach this program.
    pub base_url: Url,
    /// Origins whose pages may call with cookies: the base URL's, the issuer's and ALLOWED_ORIGINS.
    pub allowed_origins: Vec<String>,
    /// Peers whose X-Forwarded-For counts.
    pub trusted_proxies: Vec<IpNet>,
}

impl Policy {
    /// An absolute URL below the base URL.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", origin_of(&self.base_url))
    }
}

/// A URL's origin as the `Origin` header writes it.
pub fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The routes that each program has once, whichever services it runs.
pub fn common_routes(
    policy: Arc<Policy>,
    cors: Cors,
    limits: Limits,
    health: health::Health,
) -> OpenApiRouter {
    let base = policy.url("");
    let token = OpenApiRouter::new()
        .routes(routes!(csrf::issue))
        .route_layer(from_fn_with_state(limits, limits::by_address))
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
    let routes = coding::encode(routes.layer(panics)).layer(from_fn(observe::tell_route));
    // A router of its own, because the one inside adds Allow and Content-Length after its layers.
    Router::new()
        .fallback_service(routes)
        .layer(from_fn_with_state(policy, observe::observe))
}

/// The one value of a header; `None` if it is absent, repeated or no text.
pub fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
