//! `/me/passkeys`: the passkeys of the caller. Users add them on a page of the issuer, to whose origin they
//! belong.

use super::reauthentication;
use crate::error::ApiError;
use crate::extract::UnrestrictedSession;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use foundation::ids::Id;
use identity::Identity;
use identity::credential_check::PresentedCredentials;
use identity::passkeys::{self, Name, Passkey, Removal};
use serde::Serialize;
use utoipa::ToSchema;
use web::cookies::replacement_cookie;
use web::error::reauthentication_error;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Error, JsonBody, PathId};

/// The caller's passkeys.
#[derive(Serialize, ToSchema)]
struct Passkeys {
    /// The passkeys, the oldest first; at most 20.
    items: Vec<Passkey>,
}

/// A new name of a passkey.
#[derive(ToSchema)]
#[schema(example = json!({"name": "My phone"}))]
struct PasskeyName {
    name: Name,
}

/// List the caller's passkeys
///
/// Users add passkeys on the page `/account/passkeys` of the issuer.
#[utoipa::path(
    get, path = "/me/passkeys", operation_id = "listPasskeys", tag = "Users", security(("session" = [])),
    responses((status = 200, description = "The passkeys.", body = Passkeys), UnrestrictedSession)
)]
pub(crate) async fn list(
    UnrestrictedSession(session): UnrestrictedSession,
    State(identity): State<Identity>,
) -> Result<impl IntoResponse, ApiError> {
    let items = passkeys::list(&identity.db, session.user.id).await?;
    Ok(Json(Passkeys { items }))
}

/// Rename a passkey
///
/// The name is for the user alone.
#[utoipa::path(
    put, path = "/me/passkeys/{id}/name", operation_id = "renamePasskey", tag = "Users", request_body = PasskeyName,
    params(("id" = inline(Id), Path, description = "The id of the passkey.")),
    security(("session" = [], "csrf" = [])),
    responses((status = 200, description = "The renamed passkey.", body = Passkey), UnrestrictedSession, PathId, JsonBody)
)]
pub(crate) async fn rename(
    id: PathId,
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<Json<Passkey>, ApiError> {
    let id = id.or_not_found()?.get();
    let PasskeyName { name } = read_name(&body)?;
    let renamed = passkeys::rename(&identity, &session, id, &name, &context).await?;
    Ok(Json(renamed.ok_or_else(Error::not_found)?))
}

/// Remove a passkey
///
/// Requires the password, and a code if sign-in requires one. A user without a password removes passkeys at
/// `/account/passkeys`. Gives this session a new cookie, ends all other sessions of the user, and revokes the
/// tokens of all apps.
#[utoipa::path(
    delete, path = "/me/passkeys/{id}", operation_id = "removePasskey", tag = "Users", request_body = PresentedCredentials,
    params(("id" = inline(Id), Path, description = "The id of the passkey.")),
    security(("session" = [], "csrf" = [])),
    responses(
        (status = 204, description = "The passkey is removed.", headers(("Set-Cookie"))),
        UnrestrictedSession, PathId, JsonBody, code::LoginLocked, code::MfaRequired,
    )
)]
pub(crate) async fn remove(
    id: PathId,
    State(identity): State<Identity>,
    Context(context): Context,
    Authorized(UnrestrictedSession(session), body): Authorized<UnrestrictedSession, JsonBody>,
) -> Result<impl IntoResponse, ApiError> {
    let id = id.or_not_found()?.get();
    let presented = reauthentication::read_credentials(&body)?;
    let removed = passkeys::remove(&identity, &session, id, Some(&presented), &context).await;
    let sid = match removed.map_err(|error| reauthentication_error(error, "password"))? {
        Removal::Removed(sid) => sid,
        // The account has a password, which was just verified, so no passkey is the only way to sign in.
        Removal::Unknown | Removal::OnlyWayToSignIn => return Err(Error::not_found().into()),
    };
    let cookie = replacement_cookie(&session, &sid, &context);
    Ok((StatusCode::NO_CONTENT, cookie))
}

fn read_name(body: &JsonBody) -> Result<PasskeyName, Error> {
    let mut fields = body.fields()?;
    let name = fields.required("name", Name::parse);
    fields.finish(name.map(|name| PasskeyName { name }))
}
