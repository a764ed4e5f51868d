//! The extractors of a write that a client may repeat: with the header `Idempotency-Key`, it is executed
//! once.

use super::writers::Writer;
use crate::app::App;
use crate::error::{self, ApiError};
use crate::versions::Prefix;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use foundation::clock::Timestamp;
use resources::idempotency::{Claim, Idempotency, KeyScope, KeyValue, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;
use storage::db::WriteTarget;
use web::context::request_context;
use web::{Error, JsonBody, error_responses};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A request for a write, which is executed once per idempotency key. Without a key it is executed each time.
/// Extract it before the caller: the 400 of a malformed key precedes 401.
#[derive(Debug)]
pub(crate) struct IdempotentRequest {
    key: Option<KeyValue>,
    method: String,
    path: String,
    /// The version prefix of the request's path, which precedes the response's `Location`.
    prefix: Prefix,
    now: Timestamp,
    idempotency: Idempotency,
}

/// A request for a write that requires an idempotency key.
#[derive(Debug)]
pub(crate) struct KeyedRequest(pub(crate) IdempotentRequest);

/// A write that succeeded, now or in an earlier call with the same key.
#[derive(Debug)]
pub(crate) struct Written<R> {
    outcome: Outcome<R>,
    prefix: Prefix,
}

error_responses! {
    IdempotentRequest: IdempotencyKeyInvalid, IdempotencyKeyReused, IdempotencyInProgress, StorageQuotaExceeded;
    KeyedRequest: IdempotencyKeyMissing, IdempotencyKeyInvalid, IdempotencyKeyReused, IdempotencyInProgress,
                    StorageQuotaExceeded;
}

impl IdempotentRequest {
    /// Executes the write for this caller, at the time of the request, and returns its receipt, or the stored
    /// receipt of an earlier call with the same key. Fails like [`Idempotency::run`].
    pub(crate) async fn run<const MAX: usize, R: Serialize + DeserializeOwned, E: Into<ApiError>>(
        self,
        writer: &Writer,
        body: &JsonBody<MAX>,
        write: impl AsyncFnOnce(&mut WriteTarget<'_>, Timestamp) -> Result<R, E>,
    ) -> Result<Written<R>, ApiError> {
        let claim = match &self.key {
            Some(key) => {
                let (scope, fingerprint) = (self.scope(writer), body.fingerprint()?);
                Some(Claim::new(key, scope, writer.allowance, fingerprint))
            }
            None => None,
        };
        let outcome: Result<_, ApiError> = self.idempotency.run(claim.as_ref(), self.now, write).await;
        let outcome = outcome.map_err(|error| writer.principal.attribute(error))?;
        Ok(Written {
            outcome,
            prefix: self.prefix,
        })
    }

    fn scope<'a>(&'a self, writer: &'a Writer) -> KeyScope<'a> {
        KeyScope {
            user_id: writer.actor.user_id,
            client_id: writer.principal.client_id(),
            method: &self.method,
            path: &self.path,
        }
    }
}

impl<R> Written<R> {
    /// Returns the receipt, with which the caller makes the resource for [`Written::created`].
    pub(crate) const fn receipt(&self) -> &R {
        &self.outcome.receipt
    }

    /// Returns the response 201 with this resource. `location` is its path without the prefix of an API
    /// version, `etag` its entity tag if it has one. Fails if the resource cannot be serialized.
    pub(crate) fn created(
        self,
        location: &str,
        etag: Option<String>,
        resource: &impl Serialize,
    ) -> Result<Response, ApiError> {
        let value = |text: String| HeaderValue::try_from(text).map_err(|error| Error::internal(&error));
        let body = serde_json::to_vec(resource).map_err(|error| Error::internal(&error))?;
        let mut response = (StatusCode::CREATED, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::LOCATION, value(self.prefix.path(location))?);
        if let Some(etag) = etag {
            headers.insert(header::ETAG, value(etag)?);
        }
        if self.outcome.is_replay {
            headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        Ok(response)
    }
}

impl FromRequestParts<App> for IdempotentRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self {
            key: read_key(parts)?,
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            prefix: parts.extensions.get().copied().unwrap_or_default(),
            now: request_context(&parts.extensions)?.now,
            idempotency: app.idempotency.clone(),
        })
    }
}

impl FromRequestParts<App> for KeyedRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let optional = IdempotentRequest::from_request_parts(parts, app).await?;
        match optional.key {
            Some(_) => Ok(Self(optional)),
            None => Err(error::idempotency_key_missing().into()),
        }
    }
}

/// Returns the key of the request, if it has one. Fails with 400 if the header is malformed or occurs more
/// than once.
fn read_key(parts: &Parts) -> Result<Option<KeyValue>, Error> {
    let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(error::idempotency_key_invalid("occurs more than once"));
    }
    let key = KeyValue::parse(&String::from_utf8_lossy(value.as_bytes()));
    key.map(Some).map_err(error::idempotency_key_invalid)
}
