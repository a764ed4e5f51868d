//! The routes of the issuer.

use crate::app::App;
use crate::http::{
    authorize, consent, discovery, documentation, forgot, password, redirects, reset, security_events,
    signin, token, verify,
};
use crate::pages;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use shared::http::error::record_refusals;
use shared::http::{Cors, cors, limits, openapi};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Builds the issuer's routes. The path of each is part of its handler's `utoipa::path` attribute.
pub(crate) fn router(app: App) -> OpenApiRouter {
    let db = app.identity.db.clone();
    let policy = Arc::clone(&app.policy);
    let issuer = app.grants.issuer.clone();
    let pages = OpenApiRouter::new()
        .routes(routes!(authorize::authorize, authorize::authorize_by_form))
        .routes(routes!(signin::show, signin::submit))
        .routes(routes!(consent::show, consent::submit))
        .routes(routes!(password::show, password::submit))
        .routes(routes!(forgot::show, forgot::submit))
        .routes(routes!(reset::show, reset::submit))
        .routes(routes!(verify::show, verify::submit))
        .layer(from_fn_with_state(policy, redirects::to_base_host));
    let calls = OpenApiRouter::new()
        .routes(routes!(token::token))
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .route_layer(from_fn_with_state(app.cors.clone(), cors::share));
    let administration = OpenApiRouter::new()
        .routes(routes!(security_events::list))
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .route_layer(from_fn_with_state(app.cors.clone(), cors::share));
    let documents = OpenApiRouter::new()
        .routes(routes!(discovery::jwks))
        .routes(routes!(discovery::metadata))
        .route_layer(from_fn_with_state(Cors::Anyone, cors::share));
    let mut router = pages
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .merge(calls)
        .merge(administration)
        .merge(documents)
        .merge(assets().into())
        .layer(from_fn_with_state(db, record_refusals))
        .with_state(app);
    documentation::complete_forms(router.get_openapi_mut());
    openapi::unversioned(router.get_openapi_mut(), &issuer);
    router
}

#[allow(
    clippy::disallowed_methods,
    reason = "the stylesheet of the pages is no part of the API"
)]
fn assets() -> Router<App> {
    Router::new().route("/assets/latchkey.css", get(pages::stylesheet))
}
