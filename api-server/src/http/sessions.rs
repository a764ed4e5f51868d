//! `/me/sessions`: where one is signed in.

use super::session::signed_out;
use crate::error::ApiError;
use crate::extract::{PathId, RequestContext, UnrestrictedSession};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use resources::ids::Id;
use serde::Serialize;
use shared::http::Error;
use shared::identity::Identity;
use shared::identity::sessions::{self, Listed};
use utoipa::ToSchema;

/// Where the caller is signed in.
#[derive(Serialize, ToSchema)]
struct Sessions {
    /// The last used first; a hundred at most.
    items: Vec<Listed>,
}

/// List one's sessions
///
/// Those that live, this one among them.
#[utoipa::path(
    get, path = "/me/sessions", operation_id = "listSessions", tag = "Sessions", security(("session" = [])),
    responses((status = 200, description = "The sessions.", body = Sessions), UnrestrictedSession)
)]
pub(crate) async fn list(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    RequestContext(context): RequestContext,
) -> Result<impl IntoResponse, ApiError> {
    let items = sessions::list(&identity.db, &session, identity.lifetimes, context.now).await?;
    Ok(Json(Sessions { items }))
}

/// End a session
///
/// And what first-party apps were given in it. Of the present one the cookie is taken away.
#[utoipa::path(
    delete, path = "/me/sessions/{id}", operation_id = "endSession", tag = "Sessions",
    params(("id" = inline(Id), Path, description = "Which session.")),
    security(("session" = [], "csrf" = [])),
    responses((status = 204, description = "It is over."), UnrestrictedSession, PathId)
)]
pub(crate) async fn end(
    UnrestrictedSession(session): UnrestrictedSession,
    id: PathId,
    State(identity): State<Identity>,
    RequestContext(context): RequestContext,
) -> Result<Response, ApiError> {
    let (id, user_id) = (id.or_not_found()?.get(), session.user.id);
    if !sessions::end_of(&identity.db, &identity.revocations, user_id, id, &context).await? {
        return Err(Error::not_found().into());
    }
    Ok(match id == session.id {
        true => signed_out().into_response(),
        false => StatusCode::NO_CONTENT.into_response(),
    })
}
