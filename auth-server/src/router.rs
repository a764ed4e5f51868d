//! The routes of the issuer.

use crate::app::App;
use crate::http::admin::{clients, consents, keys, security_events, sessions, users};
use crate::http::{
    authorize, consent, discovery, documentation, forgot, introspect, password, redirects, reset, revoke,
    signin, signout, token, user_info, verify,
};
use crate::pages;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::error::record_security_events;
use web::{Cors, calls, cors, openapi, rate_limits};

/// Builds the issuer's routes. The path of each is part of its handler's `utoipa::path` attribute.
pub(crate) fn router(app: App) -> OpenApiRouter {
    let events = app.identity.events.clone();
    let policy = Arc::clone(&app.policy);
    let issuer = app.grants.issuer.clone();
    let pages = OpenApiRouter::new()
        .routes(routes!(authorize::authorize, authorize::authorize_by_form))
        .routes(routes!(signin::show, signin::submit))
        .routes(routes!(consent::show, consent::submit))
        .routes(routes!(signout::show, signout::show_by_form))
        .routes(routes!(signout::confirm))
        .routes(routes!(password::show, password::submit))
        .routes(routes!(forgot::show, forgot::submit))
        .routes(routes!(reset::show, reset::submit))
        .routes(routes!(verify::show, verify::submit))
        .layer(from_fn_with_state(policy, redirects::to_base_host));
    let calls = OpenApiRouter::new()
        .routes(routes!(token::token))
        .routes(routes!(revoke::revoke))
        .routes(routes!(revoke::revoke_in_cookie))
        .routes(routes!(introspect::introspect))
        .routes(routes!(user_info::read, user_info::read_by_post))
        .routes(routes!(security_events::list))
        .routes(routes!(keys::list))
        .routes(routes!(keys::rotate))
        .routes(routes!(keys::retire))
        .routes(routes!(clients::list, clients::create))
        .routes(routes!(clients::read, clients::change))
        .routes(routes!(clients::rotate))
        .routes(routes!(clients::disable_client))
        .routes(routes!(clients::enable_client))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::read, users::change))
        .routes(routes!(users::set_password))
        .routes(routes!(users::disable))
        .routes(routes!(users::enable))
        .routes(routes!(users::unlock))
        .routes(routes!(users::reset_mfa))
        .routes(routes!(sessions::sign_user_out))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::end))
        .routes(routes!(consents::list))
        .routes(routes!(consents::revoke));
    let calls = rate_limits::document(calls).route_layer(from_fn_with_state(app.clone(), handle_call));
    let documents = OpenApiRouter::new()
        .routes(routes!(discovery::jwks))
        .routes(routes!(discovery::metadata))
        .routes(routes!(discovery::openid_configuration))
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers));
    let mut router = rate_limits::limit_by_address(pages, app.rate_limiter.clone())
        .layer(from_fn_with_state(events, record_security_events))
        .merge(calls)
        .merge(documents)
        .merge(assets().into())
        .with_state(app);
    documentation::complete_forms(router.get_openapi_mut());
    openapi::set_server(router.get_openapi_mut(), &issuer);
    router
}

/// Middleware of the routes that programs call.
async fn handle_call(State(app): State<App>, request: Request, next: Next) -> Response {
    calls::handle(&app.cors, &app.rate_limiter, &app.identity.events, request, next).await
}

#[allow(
    clippy::disallowed_methods,
    reason = "the stylesheet of the pages is no part of the API"
)]
fn assets() -> Router<App> {
    Router::new().route("/assets/latchkey.css", get(pages::stylesheet))
}
