//! Ids in a path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use std::convert::Infallible;
use web::Error;
use web::error_responses;

/// The longest id of a client or of a key, in characters.
const MAX_LENGTH: usize = 64;

/// The id of a client or of a key, the only parameter of the path. Extraction never fails, so that a handler can answer 401 and
/// 403 before the 404 of a text that is no such id.
#[derive(Debug)]
pub(crate) struct PathId(Option<String>);

error_responses!(PathId: NotFound;);

impl PathId {
    /// Returns the id. Fails with 404 if the parameter cannot be an id.
    pub(super) fn or_not_found(self) -> Result<String, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params.iter().flatten().next().map(|(_, text)| text.to_owned());
        // PostgreSQL cannot take every text as a parameter.
        let is_id = |id: &String| id.len() <= MAX_LENGTH && id.bytes().all(|byte| byte.is_ascii_graphic());
        Ok(Self(id.filter(is_id)))
    }
}
