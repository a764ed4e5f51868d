//! `/admin/…`: the operations for administrators.

mod administrator;
pub(crate) mod clients;
pub(crate) mod consents;
pub(crate) mod event_stream;
pub(crate) mod figures;
pub(crate) mod keys;
pub(crate) mod registration_tokens;
pub(crate) mod security_events;
pub(crate) mod sessions;
pub(crate) mod token_preview;
pub(crate) mod users;

pub(super) use administrator::Administrator;

use super::client_request::NO_STORE;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Returns a response with a new secret, which no cache may store.
fn secret_response(status: StatusCode, body: &impl Serialize) -> Response {
    (status, NO_STORE, Json(body)).into_response()
}
