//! `/me/grants`: the apps that one is connected to.

use crate::error::ApiError;
use crate::extract::{RequestContext, UnrestrictedSession};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::grants::consents::{self, Connected};
use shared::http::Error;
use shared::http::openapi::refusals::code;
use shared::identity::Identity;
use utoipa::ToSchema;

/// What the caller has consented to.
#[derive(Serialize, ToSchema)]
struct Grants {
    /// By the apps' ids.
    items: Vec<Connected>,
}

/// List the apps that one is connected to
///
/// Each with what one has consented to.
#[utoipa::path(
    get, path = "/me/grants", operation_id = "listGrants", tag = "Users", security(("session" = [])),
    responses((status = 200, description = "The apps.", body = Grants), UnrestrictedSession)
)]
pub(crate) async fn list(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
) -> Result<impl IntoResponse, ApiError> {
    let items = consents::list(&identity.db, session.user.id).await?;
    Ok(Json(Grants { items }))
}

/// Disconnect an app
///
/// Its tokens are dead at once, and it must ask for consent again.
#[utoipa::path(
    delete, path = "/me/grants/{id}", operation_id = "withdrawGrant", tag = "Users",
    params(("id" = String, Path, description = "The app's `client_id`.", example = "demo")),
    security(("session" = [], "csrf" = [])),
    responses((status = 204, description = "It is disconnected."), UnrestrictedSession, code::NotFound)
)]
pub(crate) async fn withdraw(
    UnrestrictedSession(session): UnrestrictedSession,
    Path(client_id): Path<String>,
    State(identity): State<Identity>,
    RequestContext(context): RequestContext,
) -> Result<StatusCode, ApiError> {
    let (db, revocations) = (&identity.db, &identity.revocations);
    match consents::withdraw(db, revocations, session.user.id, &client_id, &context).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::not_found().into()),
    }
}
