//! Every route of the API.

use crate::app::App;
use crate::http::{
    account, challenge, comments, email_verifications, grants, metadata, mfa, password_resets, payments,
    posts, protected, session, sessions, users,
};
use crate::versions::{self, VERSIONS};
use axum::middleware::{from_fn_with_state, map_response_with_state};
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::{Cors, cors, error, openapi, rate_limits};

/// Returns the routes, each with the path that its handler declares. The routes of the API are served under the
/// version's prefix and without it. The routes of the whole process (`/csrf`, `/livez`, `/readyz`) are not included.
pub(crate) fn router(app: App) -> OpenApiRouter {
    let versioned = OpenApiRouter::new()
        .routes(routes!(posts::list, posts::create))
        .routes(routes!(posts::read, posts::update, posts::delete))
        .routes(routes!(comments::list, comments::create))
        .routes(routes!(comments::read, comments::delete))
        .routes(routes!(payments::list, payments::create))
        .routes(routes!(payments::read))
        .routes(routes!(payments::capture))
        .routes(routes!(payments::cancel))
        .routes(routes!(payments::refund))
        .routes(routes!(users::create))
        .routes(routes!(users::read))
        .routes(routes!(session::login))
        .routes(routes!(session::logout))
        .routes(routes!(session::me, account::delete))
        .routes(routes!(session::change_password))
        .routes(routes!(account::export))
        .routes(routes!(mfa::begin, mfa::disable))
        .routes(routes!(mfa::confirm))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::end))
        .routes(routes!(grants::list))
        .routes(routes!(grants::withdraw))
        .routes(routes!(password_resets::request))
        .routes(routes!(password_resets::confirm))
        .routes(routes!(email_verifications::request))
        .routes(routes!(email_verifications::confirm))
        .routes(routes!(protected::read));
    let mut documents = OpenApiRouter::new()
        .routes(routes!(metadata::read))
        .route_layer(from_fn_with_state(Cors::AnyOrigin, cors::add_headers));
    openapi::set_server(documents.get_openapi_mut(), &app.policy.url(""));
    let versioned = versions::serve(VERSIONS[0], versioned)
        .route_layer(from_fn_with_state(app.db.clone(), error::record_security_events))
        .route_layer(map_response_with_state(
            Arc::clone(&app.policy),
            challenge::add_metadata_url,
        ));
    rate_limits::limit_by_address(versioned, app.rate_limiter.clone())
        .route_layer(from_fn_with_state(app.cors.clone(), cors::add_headers))
        .merge(documents)
        .with_state(app)
}
