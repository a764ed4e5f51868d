//! Routes that write posts.

use super::principal::Principal;
use crate::posts::Actor;
use crate::router::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::http::Error;

/// A user who may write posts: 403 comes out of here, before the body is looked at.
#[derive(Debug)]
pub(crate) struct Author {
    /// As whom.
    pub(crate) actor: Actor,
    principal: Principal,
}

impl Author {
    /// A refusal that names the author in the security event.
    pub(crate) fn refused(&self, error: impl Into<Error>) -> Error {
        self.principal.refused(error)
    }
}

impl FromRequestParts<App> for Author {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let principal = <Principal as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        principal.require("posts:write")?;
        let actor = Actor::from(principal.user()?);
        Ok(Self { actor, principal })
    }
}
