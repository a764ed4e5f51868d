//! Ids in a path.

use crate::ids::Id;
use crate::payments::PaymentId;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use shared::http::Error;
use shared::refuses;

/// What stands for an id in the path, by default for the first of them. Never refuses by itself, so that a
/// handler can put 401 and 403 before the 404 of a path that names nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathId<const PLACE: usize = 0, T = Id>(Option<T>);

/// What is read from a segment of a path.
pub(crate) trait Segment: Sized {
    /// Reads the one way of writing it.
    fn read(text: &str) -> Option<Self>;
}

impl<const PLACE: usize, T> PathId<PLACE, T> {
    /// The id; 404 if the path has none.
    pub(crate) fn found(self) -> Result<T, Error> {
        self.0.ok_or_else(Error::not_found)
    }
}

refuses!(PathId: NotFound;);

impl Segment for Id {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl Segment for PaymentId {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

impl<S: Send + Sync, const PLACE: usize, T: Segment> FromRequestParts<S> for PathId<PLACE, T> {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let id = params.iter().flatten().nth(PLACE);
        Ok(Self(id.and_then(|(_, text)| T::read(text))))
    }
}
