//! `/admin/sessions`, and the sessions of a user.

mod query;

use super::{Administrator, ListRequest, PAGE_SIZE, Page};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use foundation::ids::Id;
use identity::Identity;
use identity::accounts::administration;
use identity::sessions;
use identity::sessions::UserSession;
use identity::users::account;
use query::SessionsQuery;
use web::{Error, PathId};

/// List the sessions
///
/// Returns the active sessions, the newest first, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = "/admin/sessions", operation_id = "listUserSessions", tag = "Administration", params(SessionsQuery),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "A page of sessions.", body = Page<UserSession>), Administrator)
)]
pub(crate) async fn list(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    request: ListRequest<SessionsQuery>,
) -> Result<Json<Page<UserSession>>, Error> {
    let SessionsQuery { user_id, cursor } = request.query;
    let (user_id, before) = (user_id.map(Id::get), cursor.map(Id::get));
    let (db, lifetimes) = (&identity.db, identity.session_lifetimes);
    let items = sessions::page(db, user_id, before, lifetimes, context.now, PAGE_SIZE).await?;
    Ok(request.page(items, |item| item.session.id.to_string()))
}

/// End a session of a user
///
/// Ends the session and revokes the tokens that first-party apps received in it.
#[utoipa::path(
    delete, path = "/admin/sessions/{id}", operation_id = "endUserSession", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the session.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "The session is ended."), Administrator, PathId)
)]
pub(crate) async fn end(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    let (db, revocations, id) = (&identity.db, &identity.revocations, id.or_not_found()?.get());
    match sessions::revoke(db, revocations, None, id, &context).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::not_found()),
    }
}

/// Sign a user out everywhere
///
/// Ends every session of the user and revokes the tokens of all apps. The user can sign in again.
#[utoipa::path(
    delete, path = "/admin/users/{id}/sessions", operation_id = "signUserOut", tag = "Administration",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "The user has no session and no token."), Administrator, PathId)
)]
pub(crate) async fn sign_user_out(
    Administrator(context): Administrator,
    id: PathId,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    let (db, revocations, id) = (&identity.db, &identity.revocations, id.or_not_found()?.get());
    account::find(db, id).await?.ok_or_else(Error::not_found)?;
    administration::sign_out(db, revocations, id, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}
