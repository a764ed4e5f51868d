//! The request context, which the `request_log` middleware creates: its extractor and its route.

use crate::error::Error;
use axum::extract::{FromRequestParts, MatchedPath, Request};
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

/// Records the matched route in the context of the request. Called by a layer inside the router, which
/// matches the route.
pub(crate) fn record_route(request: Request) -> Request {
    let extensions = request.extensions();
    if let (Ok(context), Some(path)) = (request_context(extensions), extensions.get::<MatchedPath>()) {
        context.route.get_or_init(|| path.as_str().to_owned());
    }
    request
}
