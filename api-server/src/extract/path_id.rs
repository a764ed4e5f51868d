//! Ids in a path.

use crate::ids::Id;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use shared::http::Error;
use shared::refuses;

/// What stands for an id in the path, by default for the first of them. Never refuses by itself, so that a
/// handler can put 401 and 403 before the 404 of a path that names nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId<const PLACE: usize = 0>(Option<Id>);

impl<const PLACE: usize> PathId<PLACE> {
    /// The id; 404 if the path has none.
    pub(crate) fn found(self) -> Result<Id, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

refuses!(PathId: NotFound;);

impl<S: Send + Sync, const PLACE: usize> FromRequestParts<S> for PathId<PLACE> {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params.iter().flatten().nth(PLACE);
        Ok(Self(id.and_then(|(_, text)| Id::parse(text))))
    }
}
