//! JSON bodies whose usual size is known, and JSON files to download.

use crate::Error;
use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::TryStream;
use serde::Serialize;

/// Returns a response with a JSON body. `capacity` is the length in bytes that most bodies do not exceed, so
/// that their buffer need not grow: the buffer of [`axum::Json`] begins with 128 bytes.
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

/// Returns a response with a JSON file that the browser stores and that no cache keeps. The file is sent in
/// pieces. `content_disposition` names it.
pub fn json_file<S>(content_disposition: String, pieces: S) -> Response
where
    S: TryStream<Ok: Into<Bytes>, Error: Into<BoxError>> + Send + 'static,
{
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, content_disposition),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, Body::from_stream(pieces)).into_response()
}
