//! Routes that write what belongs to a user: posts, comments, payments.

use super::principal::Principal;
use crate::posts::Actor;
use crate::router::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::http::Error;
use shared::refuses;

/// A user who may write posts: 403 comes out of here, before the body is looked at.
#[derive(Debug)]
pub(crate) struct Author {
    /// As whom.
    pub(crate) actor: Actor,
    principal: Principal,
}

/// A user who may write comments.
#[derive(Debug)]
pub(crate) struct Commenter(pub(crate) Author);

/// A user who may make payments.
#[derive(Debug)]
pub(crate) struct Payer(pub(crate) Author);

impl Author {
    /// As whom the author reads posts.
    pub(crate) fn reader(&self) -> Option<Actor> {
        self.principal.reader()
    }

    /// A refusal that names the author in the security event.
    pub(crate) fn refused(&self, error: impl Into<Error>) -> Error {
        self.principal.refused(error)
    }

    /// By which app the author calls, if by any.
    pub(crate) fn client_id(&self) -> Option<&str> {
        self.principal.client_id.as_deref()
    }

    async fn with_scope(parts: &mut Parts, app: &App, scope: &'static str) -> Result<Self, Error> {
        let principal = <Principal as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        principal.require(scope)?;
        let actor = Actor::from(principal.user()?);
        Ok(Self { actor, principal })
    }
}

refuses! {
    Author: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired, InsufficientScope, Forbidden;
    Commenter: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired, InsufficientScope, Forbidden;
    Payer: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired, InsufficientScope, Forbidden;
}

impl FromRequestParts<App> for Author {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Self::with_scope(parts, app, "posts:write").await
    }
}

impl FromRequestParts<App> for Commenter {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Author::with_scope(parts, app, "comments:write").await.map(Self)
    }
}

impl FromRequestParts<App> for Payer {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        Author::with_scope(parts, app, "payments:write").await.map(Self)
    }
}
