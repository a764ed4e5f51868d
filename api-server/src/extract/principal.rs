//! Who calls, and what they may do.

use super::credentials::{self, Caller};
use crate::error;
use crate::posts::Actor;
use crate::router::App;
use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use serde::Serialize;
use shared::clock::Timestamp;
use shared::http::Error;
use shared::identity::sessions::Session;
use shared::identity::users::User;
use shared::refuses;
use shared::scope::Scope;
use utoipa::ToSchema;

/// An authenticated caller. As an `Option` it extracts for public routes, where nobody need be.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    /// For whom the call is made; `None` for a service that calls for itself.
    pub(crate) user: Option<User>,
    /// What the role and the token both allow; a session has all that the role allows.
    pub(crate) scope: Scope,
    /// How the caller authenticated.
    pub(crate) method: Method,
    /// When that ends.
    pub(crate) expires_at: Timestamp,
    /// Which client sent the access token.
    pub(crate) client_id: Option<String>,
}

/// How a caller authenticated.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// By a session cookie.
    Session,
    /// By an access token.
    Bearer,
}

impl Principal {
    /// 403 `insufficient_scope` if the caller lacks this scope.
    pub(crate) fn require(&self, scope: &'static str) -> Result<(), Error> {
        if self.scope.contains(scope) {
            return Ok(());
        }
        Err(self.refused(error::insufficient_scope(scope)))
    }

    /// The user, 403 `forbidden` for a service's own token.
    pub(crate) fn user(&self) -> Result<&User, Error> {
        self.user.as_ref().ok_or_else(|| self.refused(error::no_user()))
    }

    /// As whom the caller reads posts: `None` is someone who sees what is published.
    pub(crate) fn reader(&self) -> Option<Actor> {
        let user = self.user.as_ref().filter(|_| self.scope.contains("posts:read"));
        user.map(Actor::from)
    }

    /// A refusal that names the caller in the security event.
    pub(crate) fn refused(&self, error: impl Into<Error>) -> Error {
        let user_id = self.user.as_ref().map(|user| user.id);
        error.into().by(user_id, self.client_id.as_deref())
    }
}

impl From<Session> for Principal {
    fn from(session: Session) -> Self {
        Self {
            scope: session.user.role.scope(),
            user: Some(session.user),
            method: Method::Session,
            expires_at: session.expires_at,
            client_id: None,
        }
    }
}

refuses!(Principal: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired;);

impl FromRequestParts<App> for Principal {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let principal = <Self as OptionalFromRequestParts<App>>::from_request_parts(parts, app).await?;
        principal.ok_or_else(error::unauthenticated)
    }
}

impl OptionalFromRequestParts<App> for Principal {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Error> {
        match credentials::caller(parts, app).await? {
            None => Ok(None),
            Some(Caller::Bearer(principal)) => Ok(Some(principal)),
            Some(Caller::Session(session)) if session.password_change_required => {
                Err(error::password_change_required())
            }
            Some(Caller::Session(session)) => Ok(Some(session.into())),
        }
    }
}
