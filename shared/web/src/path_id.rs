//! Ids in a path.

use crate::{Error, error_responses};
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use foundation::ids::Id;
use std::convert::Infallible;
use std::str::FromStr;

/// The id in the path parameter with this index, by default the first one. `T` parses the canonical form and
/// no other text. Extraction never fails, so that a handler can answer 401 and 403 before the 404 of a
/// malformed id.
#[derive(Clone, Copy, Debug)]
pub struct PathId<T = Id, const INDEX: usize = 0>(Option<T>);

error_responses!(PathId: NotFound;);

impl<T, const INDEX: usize> PathId<T, INDEX> {
    /// Returns the id. Fails with 404 if the parameter is not a valid id.
    pub fn or_not_found(self) -> Result<T, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

impl<S: Send + Sync, T: FromStr, const INDEX: usize> FromRequestParts<S> for PathId<T, INDEX> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params.iter().flatten().nth(INDEX);
        Ok(Self(id.and_then(|(_, text)| text.parse().ok())))
    }
}
