//! `/me/export` and the deletion of `/me`.

use super::reauthentication;
use super::session::signed_out;
use crate::error::ApiError;
use crate::extract::UnrestrictedSession;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use identity::Identity;
use identity::credential_check::PresentedCredentials;
use resources::accounts;
use resources::export::{self, Export};
use web::openapi::error_responses::code;
use web::{Authorized, Context, JsonBody};

/// Export the caller's data
///
/// Returns all data that is stored about the caller as one file.
#[utoipa::path(
    get, path = "/me/export", operation_id = "exportAccount", tag = "Users", security(("session" = [])),
    responses(
        (status = 200, description = "The file.", body = Export, headers(("Content-Disposition"), ("Cache-Control"))),
        UnrestrictedSession,
    )
)]
pub(crate) async fn export(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
    Context(context): Context,
) -> Result<Response, ApiError> {
    let name = export::content_disposition(&session);
    let pieces = export::stream(identity, session, context.now).await?;
    Ok(web::json_file(name, pieces))
}

/// Delete the caller's account
///
/// Requires the password, and a code if sign-in requires one. A user without a password deletes the account
/// at `/account/deletion`. Posts that were ever published, comments and payments remain and belong to an
/// anonymized user. All other data is deleted, and the e-mail address can be used again.
#[utoipa::path(
    delete, path = "/me", operation_id = "deleteAccount", tag = "Users", request_body = PresentedCredentials,
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The account is deleted.", headers(("Set-Cookie"))),
        UnrestrictedSession, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn delete(
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let presented = reauthentication::read_credentials(&body)?;
    accounts::delete(&identity, &session, Some(&presented), &context).await?;
    Ok(signed_out())
}
