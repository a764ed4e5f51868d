//! Writes that may carry an idempotency key, or must.

use super::author::Author;
use crate::error;
use crate::idempotency::{Claim, Idempotency, Key, Outcome, Owner, Reply};
use crate::router::App;
use crate::versions::Prefix;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use shared::clock::Timestamp;
use shared::db::Tx;
use shared::events::Context;
use shared::http::{Error, JsonBody};
use shared::refuses;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// A write that is done once if it carries a key. It stands before whoever calls, for its 400 comes first.
#[derive(Debug)]
pub(crate) struct Once {
    key: Option<Key>,
    method: String,
    path: String,
    prefix: Prefix,
    now: Timestamp,
    writes: Idempotency,
}

/// A write that must carry a key.
#[derive(Debug)]
pub(crate) struct Keyed(pub(crate) Once);

refuses! {
    Once: IdempotencyKeyInvalid, IdempotencyKeyReused, IdempotencyInProgress;
    Keyed: IdempotencyKeyMissing, IdempotencyKeyInvalid, IdempotencyKeyReused, IdempotencyInProgress;
}

impl Once {
    /// When the request arrived.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Does the write for this caller, or answers as it was answered before.
    pub(crate) async fn run<const MAX: usize>(
        self,
        by: &Author,
        body: &JsonBody<MAX>,
        write: impl AsyncFnOnce(&mut Tx) -> Result<Reply, Error>,
    ) -> Result<Response, Error> {
        let claim = match &self.key {
            Some(key) => Some(Claim::new(key, self.owner(by), body.fingerprint()?)),
            None => None,
        };
        let outcome = self.writes.run(claim.as_ref(), self.now, write).await;
        let outcome = outcome.map_err(|error| by.refused(error))?;
        self.show(outcome)
    }

    fn owner<'a>(&'a self, by: &'a Author) -> Owner<'a> {
        Owner {
            user_id: by.actor.user_id,
            client_id: by.client_id(),
            method: &self.method,
            path: &self.path,
        }
    }

    fn show(&self, outcome: Outcome) -> Result<Response, Error> {
        let Outcome { reply, is_replay } = outcome;
        let value = |text: String| HeaderValue::try_from(text).map_err(|error| Error::internal(&error));
        let status = StatusCode::from_u16(reply.status).map_err(|error| Error::internal(&error))?;
        let mut response = (status, reply.body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::LOCATION, value(self.prefix.path(&reply.location))?);
        if let Some(etag) = reply.etag {
            headers.insert(header::ETAG, value(etag)?);
        }
        if is_replay {
            headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        }
        Ok(response)
    }
}

impl FromRequestParts<App> for Once {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let context = parts.extensions.get::<Context>();
        let now = context.map(|context| context.now);
        Ok(Self {
            key: key(parts)?,
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            prefix: parts.extensions.get().copied().unwrap_or_default(),
            now: now.ok_or_else(|| Error::internal(&"the request has no context"))?,
            writes: app.idempotency.clone(),
        })
    }
}

impl FromRequestParts<App> for Keyed {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let once = Once::from_request_parts(parts, app).await?;
        match once.key {
            Some(_) => Ok(Self(once)),
            None => Err(error::idempotency_key_missing()),
        }
    }
}

/// The key of the request, if it has one.
fn key(parts: &Parts) -> Result<Option<Key>, Error> {
    let mut values = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(error::idempotency_key_invalid("is there more than once"));
    }
    let text = value
        .to_str()
        .map_err(|_| "holds something else than visible ASCII characters");
    let key = text.and_then(Key::parse);
    key.map(Some).map_err(error::idempotency_key_invalid)
}
