//! `/me/grants`: the apps to which the caller has given access.

use crate::error::ApiError;
use crate::extract::UnrestrictedSession;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use foundation::ids::TextId;
use identity::Identity;
use identity::consents::{self, ConnectedApp};
use revocation::RevokingTx;
use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, Error, PathId};

/// The apps to which the caller has given access.
#[derive(Serialize, ToSchema)]
#[schema(as = Grants)]
struct ConnectedApps {
    /// The apps, sorted by `client_id`.
    items: Vec<ConnectedApp>,
}

/// List connected apps
///
/// Returns the apps to which the caller has given access, each with the scopes of the consent.
#[utoipa::path(
    get, path = "/me/grants", operation_id = "listGrants", tag = "Users", security(("session" = [])),
    responses((status = 200, description = "The apps.", body = ConnectedApps), UnrestrictedSession)
)]
pub(crate) async fn list(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
) -> Result<impl IntoResponse, ApiError> {
    let items = consents::list(&identity.db, session.user.id).await?;
    Ok(Json(ConnectedApps { items }))
}

/// Disconnect an app
///
/// Withdraws the consent and revokes the app's tokens at once. The app must ask for consent again.
#[utoipa::path(
    delete, path = "/me/grants/{id}", operation_id = "withdrawGrant", tag = "Users",
    params(("id" = String, Path, description = "The app's `client_id`.", example = "demo")),
    security(("session" = [], "csrf" = [])),
    responses((status = 204, description = "The app is disconnected."), UnrestrictedSession, PathId)
)]
pub(crate) async fn disconnect(
    UnrestrictedSession(session): UnrestrictedSession,
    client_id: PathId<TextId>,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<StatusCode, ApiError> {
    let client_id = client_id.or_not_found()?;
    let tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    let (events, user_id) = (&identity.events, session.user.id);
    match consents::revoke(tx, events, user_id, client_id.as_ref(), &context).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::not_found().into()),
    }
}
