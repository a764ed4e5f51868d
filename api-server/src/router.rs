//! Every route of the API.

use crate::bearer::Verifier;
use crate::http::metadata::Metadata;
use crate::http::{challenge, comments, metadata, posts, protected, session, users};
use axum::extract::FromRef;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use shared::db::Db;
use shared::http::{Policy, error};
use shared::identity::Identity;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What handlers and extractors take their parts from.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) db: Db,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) metadata: Arc<Metadata>,
}

/// The routes, each by the path that stands on its handler, without those that each program has once
/// (`/csrf`, `/livez`, `/readyz`).
pub(crate) fn router(app: App) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(posts::list, posts::create))
        .routes(routes!(posts::read, posts::update, posts::delete))
        .routes(routes!(comments::list, comments::create))
        .routes(routes!(comments::read, comments::delete))
        .routes(routes!(users::create))
        .routes(routes!(users::read))
        .routes(routes!(session::login))
        .routes(routes!(session::logout))
        .routes(routes!(session::me))
        .routes(routes!(session::change_password))
        .routes(routes!(protected::read))
        .routes(routes!(metadata::read))
        .route_layer(from_fn_with_state(app.db.clone(), error::record_refusals))
        .route_layer(map_response_with_state(
            Arc::clone(&app.policy),
            challenge::complete,
        ))
        .with_state(app)
}
