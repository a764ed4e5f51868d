//! JSON bodies whose usual size is known.

use crate::Error;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

/// Returns a response with a JSON body. `capacity` is the length in bytes that most bodies do not exceed, so that their
/// buffer need not grow: the buffer of [`axum::Json`] begins with 128 bytes.
pub fn json_response(value: &impl Serialize, capacity: usize) -> Response {
    let mut body = Vec::with_capacity(capacity);
    match serde_json::to_writer(&mut body, value) {
        Ok(()) => {
            let media_type = HeaderValue::from_static("application/json");
            ([(header::CONTENT_TYPE, media_type)], body).into_response()
        }
        Err(error) => Error::internal(&error).into_response(),
    }
}
