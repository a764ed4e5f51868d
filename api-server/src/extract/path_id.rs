//! `{id}` of a path.

use crate::ids::Id;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use shared::http::Error;

/// What stands for an id in the path. Never refuses by itself, so that a handler can put 401 and 403 before
/// the 404 of a path that names nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId(Option<Id>);

impl PathId {
    /// The id; 404 if the path has none.
    pub(crate) fn found(self) -> Result<Id, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let text = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(text.ok().and_then(|Path(text)| Id::parse(&text))))
    }
}
