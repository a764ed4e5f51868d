//! Request bodies: size limit, time limit and the JSON extractor.

use crate::error::{Code, Error};
use crate::headers::single;
use crate::incoming::{self, NotReceived};
use crate::json_fields::Fields;
use crate::openapi::error_responses;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use foundation::{json, secret, time_limits};
use http_body_util::{LengthLimitError, Limited};
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::IntoResponses;
use utoipa::openapi::{RefOr, Response};

/// The maximum size of most bodies, in bytes.
pub const DEFAULT_LIMIT: usize = 64 * 1024;
/// The maximum size of the body of a post, in bytes.
pub const LARGE_LIMIT: usize = 1024 * 1024;
/// The time limit for the arrival of a body, which the factor of [`time_limits`] multiplies. It is shorter
/// than the time limit of the whole request, so that the response to a slow body is 408 and not 503.
const BODY_TIMEOUT: Duration = Duration::from_secs(25);

/// An extractor of the caller's authorization, which [`Authorized`] runs before it reads the body and checks
/// again afterwards.
pub trait Authorization<S>: FromRequestParts<S> + Send {
    /// Checks that the authorization has not ended since the extraction. Fails with a rejection like the
    /// extraction's.
    fn check_again(&self, state: &S) -> impl Future<Output = Result<(), Self::Rejection>> + Send;
}

/// A body that [`Authorized`] can read.
pub trait ReadBody: Sized {
    /// Reads the body of a request with this head. Fails if the head or the body is not acceptable.
    fn read(head: &Parts, body: Body) -> impl Future<Output = Result<Self, Error>> + Send;
}

/// Extracts the authorization `A` and the body `B` of a request. The authorization comes first, so that 401
/// and 403 precede the errors of the body. It is checked again when the body is complete, because a caller
/// with stolen credentials could otherwise hold the body back until the user has ended them. Rejects like
/// `A`, or with the error of `B`.
#[derive(Debug)]
pub struct Authorized<A, B>(pub A, pub B);

impl<S, A, B> FromRequest<S> for Authorized<A, B>
where
    S: Send + Sync,
    A: Authorization<S, Rejection: From<Error>>,
    B: ReadBody + Send,
{
    type Rejection = A::Rejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, A::Rejection> {
        let (mut head, body) = request.into_parts();
        let authorization = A::from_request_parts(&mut head, state).await?;
        let has_body = !body.is_end_stream();
        let body = B::read(&head, body).await?;
        if has_body {
            authorization.check_again(state).await?;
        }
        Ok(Self(authorization, body))
    }
}

/// A body of at most `MAX` bytes with the media type JSON, not yet parsed. Handlers extract it with
/// [`Authorized`].
///
/// Rejects with 415 (another media type, or a content coding), 413 (too large), 408 (too slow) and 400
/// (incomplete). The handler parses the body later by [`fields`](Self::fields), so that it can answer 404,
/// 403 and 412 before the 400 and 422 of an invalid body.
#[derive(Debug)]
pub struct JsonBody<const MAX: usize = DEFAULT_LIMIT>(Bytes);

impl<const MAX: usize> JsonBody<MAX> {
    /// Parses the body as a JSON object. Fails with 400 if it is not JSON, and with 422 if it is not an
    /// object, names a member twice or contains a NUL character.
    pub fn fields(&self) -> Result<Fields, Error> {
        Fields::read(&self.0)
    }

    /// Returns the body as it was received.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the SHA-256 of the body in its canonical form, see [`json::canonical`]. Bodies that differ
    /// only in white space and member order have the same fingerprint. Fails like [`fields`](Self::fields).
    pub fn fingerprint(&self) -> Result<Vec<u8>, Error> {
        Ok(secret::hash(&json::canonical(&self.fields()?.into_value())))
    }
}

/// The default is the empty JSON object.
impl<const MAX: usize> Default for JsonBody<MAX> {
    fn default() -> Self {
        Self(Bytes::from_static(b"{}"))
    }
}

impl<const MAX: usize> ReadBody for JsonBody<MAX> {
    async fn read(head: &Parts, body: Body) -> Result<Self, Error> {
        if media_type(&head.headers).as_deref() != Some("application/json") {
            let message = "Send the body as JSON, with Content-Type: application/json.";
            return Err(Error::new(Code::UnsupportedMediaType, message));
        }
        if head.headers.contains_key(header::CONTENT_ENCODING) {
            let message = "Send the body without a Content-Encoding.";
            return Err(
                Error::new(Code::UnsupportedMediaType, message).header(header::ACCEPT_ENCODING, "identity")
            );
        }
        read(head, body, MAX).await.map(Self)
    }
}

/// Reads `None` if the request has neither a body nor a `Content-Type`. Otherwise rejects like [`JsonBody`].
impl<const MAX: usize> ReadBody for Option<JsonBody<MAX>> {
    async fn read(head: &Parts, body: Body) -> Result<Self, Error> {
        if body.is_end_stream() && !head.headers.contains_key(header::CONTENT_TYPE) {
            return Ok(None);
        }
        <JsonBody<MAX> as ReadBody>::read(head, body).await.map(Some)
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

/// Returns the media type of `Content-Type` in lower case, without its parameters; `None` if the header is
/// absent, repeated or not visible ASCII, or if its charset is not UTF-8.
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = single(headers, header::CONTENT_TYPE.as_str())?.to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next()?.to_owned();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    charset
        .is_none_or(|charset| charset.trim_matches('"') == "utf-8")
        .then_some(media_type)
}

/// Reads the body, of at most `max` bytes, of the request with this head. Fails with 413 if it is larger,
/// with 408 if it does not arrive within 25 seconds (multiplied by the factor of the time limits) or is among
/// the slowest when the memory for bodies is full, and with 400 if it cannot be read to its end.
pub async fn read(head: &Parts, body: Body, max: usize) -> Result<Bytes, Error> {
    let time_limit = time_limits::multiplied(BODY_TIMEOUT);
    let received = incoming::receive(&head.extensions, Limited::new(body, max));
    match tokio::time::timeout(time_limit, received).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(NotReceived::Aborted)) => Err(Error::new(
            Code::RequestTimeout,
            "The body arrived slower than others, and the memory for bodies is full. Send the request again.",
        )),
        Ok(Err(NotReceived::Failed(error))) if error.is::<LengthLimitError>() => Err(Error::new(
            Code::PayloadTooLarge,
            format!("The body is larger than the limit of {max} bytes."),
        )),
        Ok(Err(NotReceived::Failed(_))) => Err(Error::new(
            Code::MalformedJson,
            "The body could not be read completely.",
        )),
        Err(_) => Err(Error::new(
            Code::RequestTimeout,
            format!("The body took longer than {} s to arrive.", time_limit.as_secs()),
        )),
    }
}
