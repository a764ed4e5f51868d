//! `/.well-known/passkey-endpoints`, which leads to the page of the passkeys.

use crate::app::App;
use crate::paths;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

/// The pages on which users add and manage passkeys (W3C, A Well-Known URL for Relying Party Passkey
/// Endpoints).
#[derive(Serialize, ToSchema)]
pub(crate) struct PasskeyEndpoints {
    /// The page on which users add a passkey.
    enroll: String,
    /// The page on which users manage their passkeys.
    manage: String,
}

/// Lead to the page of the passkeys
///
/// Password managers look here for the pages on which users add and manage passkeys.
#[utoipa::path(
    get, path = paths::PASSKEY_ENDPOINTS, operation_id = "readPasskeyEndpoints", tag = "Discovery", security(()),
    responses((status = 200, description = "The pages.", body = PasskeyEndpoints))
)]
pub(crate) async fn show(State(app): State<App>) -> Json<PasskeyEndpoints> {
    let page = app.policy.url(paths::PASSKEYS);
    Json(PasskeyEndpoints {
        enroll: page.clone(),
        manage: page,
    })
}
