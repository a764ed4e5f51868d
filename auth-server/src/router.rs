//! Every route of the issuer.

use crate::flows::Flows;
use crate::grants::Grants;
use crate::http::{authorize, browser, consent, discovery, password, signin, token};
use crate::pages;
use axum::Router;
use axum::extract::FromRef;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use shared::http::error::record_refusals;
use shared::http::{Cors, Policy, cors, limits};
use shared::identity::Identity;
use shared::limits::Limits;
use std::sync::Arc;

#[derive(Clone, FromRef)]
pub(crate) struct App {
    pub(crate) identity: Identity,
    pub(crate) flows: Flows,
    pub(crate) policy: Arc<Policy>,
    pub(crate) cors: Cors,
    pub(crate) limits: Limits,
    pub(crate) grants: Arc<Grants>,
}

/// The issuer's routes.
pub(crate) fn router(app: App) -> Router {
    let db = app.identity.db.clone();
    let policy = Arc::clone(&app.policy);
    let pages = Router::new()
        .route("/authorize", get(authorize::authorize).post(authorize::authorize))
        .route("/signin", get(signin::show).post(signin::submit))
        .route("/consent", get(consent::show).post(consent::submit))
        .route("/password", get(password::show).post(password::submit))
        .layer(from_fn_with_state(policy, browser::by_its_name));
    let calls = Router::new()
        .route("/token", post(token::token))
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .route_layer(from_fn_with_state(app.cors.clone(), cors::share));
    let documents = Router::new()
        .route("/.well-known/jwks.json", get(discovery::jwks))
        .route(
            "/.well-known/oauth-authorization-server",
            get(discovery::metadata),
        )
        .route_layer(from_fn_with_state(Cors::Anyone, cors::share));
    pages
        .route_layer(from_fn_with_state(app.limits.clone(), limits::by_address))
        .merge(calls)
        .merge(documents)
        .route("/assets/latchkey.css", get(pages::stylesheet))
        .layer(from_fn_with_state(db, record_refusals))
        .with_state(app)
}
