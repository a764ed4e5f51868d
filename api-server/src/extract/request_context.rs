//! The context of a request, which a middleware of every program adds.

use crate::error::ApiError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::events::Context;
use shared::http::Error;

/// The context of the request: its time, its trace and the caller's address.
#[derive(Clone, Debug)]
pub(crate) struct RequestContext(pub(crate) Context);

/// Returns the context of the request. Fails with 500 if the middleware that adds it is missing.
pub(super) fn of(parts: &Parts) -> Result<&Context, Error> {
    let context = parts.extensions.get::<Context>();
    context.ok_or_else(|| Error::internal(&"the request has no context"))
}

impl<S: Send + Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(of(parts)?.clone()))
    }
}
