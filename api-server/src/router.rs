//! Every route of the API.

use crate::bearer::Verifier;
use crate::http::metadata::Metadata;
use crate::http::{challenge, comments, metadata, posts, protected, session, users};
use crate::versions::{self, VERSIONS};
use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use axum::routing::{get, post, put};
use shared::db::Db;
use shared::http::{Cors, Policy, cors, error, limits};
use shared::identity::Identity;
use shared::limits::Limits;
use std::sync::Arc;

/// What handlers and extractors take their parts from.
#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) db: Db,
    pub(crate) identity: Identity,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) limits: Limits,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) metadata: Arc<Metadata>,
}

/// The routes, those of the API in both their forms; without those that each program has once (`/csrf`,
/// `/livez`, `/readyz`).
pub(crate) fn router(app: App) -> Router {
    let versioned = Router::new()
        .route("/posts", get(posts::list).post(posts::create))
        .route(
            "/posts/{id}",
            get(posts::read).patch(posts::update).delete(posts::delete),
        )
        .route("/posts/{id}/comments", get(comments::list).post(comments::create))
        .route(
            "/posts/{id}/comments/{comment_id}",
            get(comments::read).delete(comments::delete),
        )
        .route("/users", post(users::create))
        .route("/users/{id}", get(users::read))
        .route("/login", post(session::login))
        .route("/logout", post(session::logout))
        .route("/me", get(session::me))
        .route("/me/password", put(session::change_password))
        .route("/protected", get(protected::read));
    let documents = Router::new()
        .route(metadata::PATH, get(metadata::read))
        .route_layer(from_fn_with_state(Cors::Anyone, cors::share));
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
