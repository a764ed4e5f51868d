//! The extractor of the request context, which the `request_log` middleware creates.

use crate::error::Error;
use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use foundation::context::RequestContext;
use std::sync::Arc;

/// Extracts the context of the request: its time, trace id and client address.
#[derive(Clone, Debug)]
pub struct Context(pub Arc<RequestContext>);

impl<S: Send + Sync> FromRequestParts<S> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        request_context(&parts.extensions).map(Arc::clone).map(Self)
    }
}

/// Returns the context of a request from its extensions. Fails with 500 if the route lacks the middleware of
/// [`Program`](crate::program::Program).
pub fn request_context(extensions: &Extensions) -> Result<&Arc<RequestContext>, Error> {
    let context = extensions.get::<Arc<RequestContext>>();
    context.ok_or_else(|| Error::internal(&"the request has no RequestContext"))
}
