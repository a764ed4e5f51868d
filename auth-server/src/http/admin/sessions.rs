//! `/admin/sessions`, and the sessions of a user.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use foundation::ids::Id;
use foundation::list_query::PageRequest;
use identity::Identity;
use identity::accounts::administration;
use identity::sessions::{self, ListQuery, UserSession};
use identity::users::account;
use std::sync::Arc;
use web::{Envelope, Error, PathId, Policy, list_response};

/// List the sessions
///
/// Returns the active sessions, the newest first, 20 per page. Unknown and invalid query parameters are
/// ignored. A browser that opens the address gets a page in place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_SESSIONS, operation_id = "listUserSessions", tag = "Administration",
    params(ListQuery, PageRequest),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of sessions.", headers(("Link")),
         content((Envelope<UserSession> = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn list(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = sessions::page(&identity.db, &query, identity.session_lifetimes, context.now).await?;
    let url = policy.url(paths::ADMIN_SESSIONS);
    Ok(list_response(page, &query.page, &url))
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
    let (db, revocations) = (&identity.db, &identity.revocations);
    administration::end_session(db, revocations, id.or_not_found()?.get(), &context).await?;
    Ok(StatusCode::NO_CONTENT)
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
    let id = id.or_not_found()?.get();
    let account = account::find(&identity.db, id).await?;
    account.ok_or_else(Error::not_found)?;
    administration::sign_out(&identity.db, &identity.revocations, id, &context).await?;
    Ok(StatusCode::NO_CONTENT)
}
