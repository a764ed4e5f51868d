//! `/me` as a whole: taking it along, and ending it.

use super::proof;
use super::session::signed_out;
use crate::accounts;
use crate::export::{self, Export};
use crate::extract::SettledSession;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use shared::events::Context;
use shared::http::openapi::refusals::code;
use shared::http::{Error, JsonBody};
use shared::identity::Identity;
use shared::identity::login::Proof;

/// Export one's data
///
/// All that is kept of the caller, as one file.
#[utoipa::path(
    get, path = "/me/export", operation_id = "exportAccount", tag = "Users", security(("session" = [])),
    responses(
        (status = 200, description = "The file.", body = Export, headers(("Content-Disposition"), ("Cache-Control"))),
        SettledSession,
    )
)]
pub(crate) async fn export(
    SettledSession(session): SettledSession,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
) -> Result<impl IntoResponse, Error> {
    let name = format!("attachment; filename=\"account-{}.json\"", session.user.id);
    let pieces = export::write(identity, session, context.now).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((headers, Body::from_stream(pieces)))
}

/// Delete one's account
///
/// By the password, and a code where sign-in asks for one. Published posts, comments and payments stay, of an author
/// without a name; everything else goes, and the e-mail address is free again.
#[utoipa::path(
    delete, path = "/me", operation_id = "deleteAccount", tag = "Users", request_body = Proof,
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "It is gone.", headers(("Set-Cookie"))),
        SettledSession, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn delete(
    SettledSession(session): SettledSession,
    State(identity): State<Identity>,
    Extension(context): Extension<Context>,
    body: JsonBody,
) -> Result<impl IntoResponse, Error> {
    let proof = proof::read(&body)?;
    accounts::delete(&identity, &session.user, &proof, &context).await?;
    Ok(signed_out())
}
