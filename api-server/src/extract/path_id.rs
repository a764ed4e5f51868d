//! Ids in a path.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use resources::ids::Id;
use resources::payments::PaymentId;
use web::Error;
use web::error_responses;

/// The id in the path parameter with this index, by default the first one. Extraction never fails, so that a handler
/// can answer 401 and 403 before the 404 of a malformed id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId<const INDEX: usize = 0, T = Id>(Option<T>);

/// A type that is parsed from a segment of a path.
pub(crate) trait PathSegment: Sized {
    /// Parses the canonical form; `None` for any other text.
    fn parse(text: &str) -> Option<Self>;
}

impl<const INDEX: usize, T> PathId<INDEX, T> {
    /// Returns the id. Fails with 404 if the parameter is not a valid id.
    pub(crate) fn or_not_found(self) -> Result<T, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

error_responses!(PathId: NotFound;);

impl PathSegment for Id {
    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl PathSegment for PaymentId {
    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl<S: Send + Sync, const INDEX: usize, T: PathSegment> FromRequestParts<S> for PathId<INDEX, T> {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params.iter().flatten().nth(INDEX);
        Ok(Self(id.and_then(|(_, text)| T::parse(text))))
    }
}
