//! `/me/sessions`: the sessions of the caller.

use super::session::signed_out;
use crate::error::ApiError;
use crate::extract::UnrestrictedSession;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use foundation::ids::Id;
use identity::sessions::{self, OwnSession};
use identity::{Identity, login};
use revocation::RevokingTx;
use serde::Serialize;
use utoipa::ToSchema;
use web::{Context, Error, PathId};

/// The caller's sessions.
#[derive(Serialize, ToSchema)]
struct Sessions {
    /// The sessions, the most recently used first; at most 100.
    items: Vec<OwnSession>,
}

/// List the caller's sessions
///
/// Returns the active sessions, including the one of this call.
#[utoipa::path(
    get, path = "/me/sessions", operation_id = "listSessions", tag = "Sessions", security(("session" = [])),
    responses((status = 200, description = "The sessions.", body = Sessions), UnrestrictedSession)
)]
pub(crate) async fn list(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<impl IntoResponse, ApiError> {
    let items = sessions::list(&identity, session.user.id, &session, context.now).await?;
    Ok(Json(Sessions { items }))
}

/// End all other sessions
///
/// Ends every session of the caller but the one of this call, and revokes the tokens that first-party apps
/// received in them.
#[utoipa::path(
    delete, path = "/me/sessions", operation_id = "endOtherSessions", tag = "Sessions",
    security(("session" = [], "csrf" = [])),
    responses((status = 204, description = "The caller has no other session."), UnrestrictedSession)
)]
pub(crate) async fn end_others(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<StatusCode, ApiError> {
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    // Of several sessions that end each other at the same time, one is kept.
    if !session.authority().lock_session(&mut tx, context.now).await? {
        return Err(login::Error::SignedOut.into());
    }
    sessions::revoke_others(tx, &session, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End a session
///
/// Ends the session and revokes the tokens that first-party apps received in it. Ending the session of this
/// call also clears its cookie.
#[utoipa::path(
    delete, path = "/me/sessions/{id}", operation_id = "endSession", tag = "Sessions",
    params(("id" = inline(Id), Path, description = "The id of the session.")),
    security(("session" = [], "csrf" = [])),
    responses((status = 204, description = "The session is ended."), UnrestrictedSession, PathId)
)]
pub(crate) async fn end(
    UnrestrictedSession(session): UnrestrictedSession,
    id: PathId,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<Response, ApiError> {
    let id = id.or_not_found()?.get();
    let tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    if !sessions::revoke_own(tx, &session, id, &context).await? {
        return Err(Error::not_found().into());
    }
    Ok(match id == session.id {
        true => signed_out().into_response(),
        false => StatusCode::NO_CONTENT.into_response(),
    })
}
