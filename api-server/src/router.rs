//! Every route of the API.

use crate::bearer::Verifier;
use crate::http::metadata::Metadata;
use crate::http::{
    account, challenge, comments, email_verifications, grants, metadata, mfa, password_resets, payments,
    posts, protected, session, sessions, users,
};
use crate::idempotency::Idempotency;
use crate::versions::{self, VERSIONS};
use axum::extract::FromRef;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use shared::db::Db;
use shared::http::{Cors, Policy, cors, error, limits, openapi};
use shared::identity::Identity;
use shared::limits::Limits;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What handlers and extractors take their parts from.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) db: Db,
    pub(crate) idempotency: Idempotency,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) limits: Limits,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) metadata: Arc<Metadata>,
}

/// The routes, each by the path that stands on its handler, those of the API in both their forms; without
/// those that each program has once (`/csrf`, `/livez`, `/readyz`).
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
        .route_layer(from_fn_with_state(Cors::Anyone, cors::share));
    openapi::unversioned(documents.get_openapi_mut(), &app.policy.url(""));
    versions::serve(VERSIONS[0], versioned)
        .route_layer(from_fn_with_state(app.db.clone(), error::record_refusals))
        .route_layer(map_response_with_state(
            Arc::clone(&app.policy),
            challenge::complete,
        ))
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .route_layer(from_fn_with_state(app.cors.clone(), cors::share))
        .merge(documents)
        .with_state(app)
}
