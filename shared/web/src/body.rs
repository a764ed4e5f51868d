//! Reading bodies: within a limit, within a time, as JSON.

use crate::error::{Code, Error};
use crate::headers::single;
use crate::json_fields::Fields;
use crate::openapi::error_responses;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, OptionalFromRequest, Request};
use axum::http::{HeaderMap, header};
use foundation::json;
use foundation::secret;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::IntoResponses;
use utoipa::openapi::{RefOr, Response};

/// The limit of most bodies.
pub const SMALL: usize = 64 * 1024;
/// The limit of a post.
pub const LARGE: usize = 1024 * 1024;
/// A body must arrive within this time, well before the whole request is given up.
const BODY_TIMEOUT: Duration = Duration::from_secs(25);

/// A body sent as JSON, of at most `MAX` bytes, not looked at yet.
///
/// Rejects with 415 (not sent as JSON, or encoded), 413 (too large) and 408 (too slow). What is wrong
/// inside comes out of [`fields`](Self::fields), so that a handler can put 404, 403 and 412 before it.
#[derive(Debug)]
pub struct JsonBody<const MAX: usize = SMALL>(Bytes);

impl<const MAX: usize> JsonBody<MAX> {
    /// Reads the body as one JSON object: 400 if it is not JSON, 422 if it is not an object or names a
    /// member twice.
    pub fn fields(&self) -> Result<Fields, Error> {
        Fields::read(&self.0)
    }

    /// What is the same of two bodies that say the same: the SHA-256 of the value in the canonical form
    /// that [`json::canonical`] gives. Refuses what [`fields`](Self::fields) refuses.
    pub fn fingerprint(&self) -> Result<Vec<u8>, Error> {
        Ok(secret::hash(&json::canonical(&self.fields()?.into_value())))
    }
}

/// The object without members.
impl<const MAX: usize> Default for JsonBody<MAX> {
    fn default() -> Self {
        Self(Bytes::from_static(b"{}"))
    }
}

impl<S: Send + Sync, const MAX: usize> FromRequest<S> for JsonBody<MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self, Error> {
        let (parts, body) = request.into_parts();
        if media_type(&parts.headers).as_deref() != Some("application/json") {
            return Err(Error::new(
                Code::UnsupportedMediaType,
                "Send the body as JSON, with Content-Type: application/json.",
            ));
        }
        if parts.headers.contains_key(header::CONTENT_ENCODING) {
            return Err(Error::new(
                Code::UnsupportedMediaType,
                "Send the body without a Content-Encoding.",
            )
            .header(header::ACCEPT_ENCODING, "identity"));
        }
        read(body, MAX).await.map(Self)
    }
}

/// `None` where no body is sent and none is said to be.
impl<S: Send + Sync, const MAX: usize> OptionalFromRequest<S> for JsonBody<MAX> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, Error> {
        if request.body().is_end_stream() && !request.headers().contains_key(header::CONTENT_TYPE) {
            return Ok(None);
        }
        <Self as FromRequest<S>>::from_request(request, state)
            .await
            .map(Some)
    }
}

impl<const MAX: usize> IntoResponses for JsonBody<MAX> {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        error_responses(&[
            Code::MalformedJson,
            Code::RequestTimeout,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
        ])
    }
}

/// The media type in lower case without its parameters, where UTF-8 is the charset if one is named.
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = single(headers, header::CONTENT_TYPE.as_str())?.to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next()?.to_owned();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    charset
        .is_none_or(|charset| charset.trim_matches('"') == "utf-8")
        .then_some(media_type)
}

/// Reads a body of at most `max` bytes.
pub async fn read(body: Body, max: usize) -> Result<Bytes, Error> {
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, max).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Error::new(
            Code::PayloadTooLarge,
            format!("The body is over the limit of {max} bytes."),
        )),
        Ok(Err(_)) => Err(Error::new(
            Code::MalformedJson,
            "The body could not be read to its end.",
        )),
        Err(_) => Err(Error::new(
            Code::RequestTimeout,
            "The body took longer than 25 s to arrive.",
        )),
    }
}
