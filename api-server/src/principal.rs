//! The authenticated caller of a request and its permissions.

use crate::error::ApiError;
use access_tokens::Token;
use foundation::clock::Timestamp;
use foundation::role::Role;
use foundation::scope::Scope;
use identity::authority::Authority;
use identity::sessions::Session;
use resources::posts::Actor;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use web::bearer;

/// An authenticated caller. The extractor `Principal` rejects unauthenticated requests; `Option<Principal>`
/// accepts them.
#[derive(Clone, Debug)]
pub(crate) struct Principal {
    /// The user for whom the call is made; `None` for a client that calls on its own behalf.
    pub(crate) user: Option<CallingUser>,
    /// The scopes that both the user's role and the access token allow. A session has all scopes of the role.
    pub(crate) scope: Scope,
    /// The credentials that authenticated the caller.
    pub(crate) credentials: Credentials,
    /// The expiry of the session or of the access token.
    pub(crate) expires_at: Timestamp,
}

/// The verified credentials of a caller.
#[derive(Clone, Debug)]
pub(crate) enum Credentials {
    /// A session, by its authority.
    Session(Authority),
    /// An access token.
    Token(Arc<Token>),
}

/// The user for whom a call is made, as the session or the access token describes the user. Any change of the
/// role ends both, so neither the role nor the existence of the user needs a look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallingUser {
    /// The id of the user.
    pub(crate) id: i64,
    /// The role of the user.
    pub(crate) role: Role,
    /// The epoch of the user in which the session or the token began.
    pub(crate) epoch: i64,
}

/// The kind of credentials that authenticated a caller.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Method)]
pub(crate) enum AuthenticationMethod {
    /// By a session cookie.
    Session,
    /// By an access token.
    Bearer,
}

impl Principal {
    /// Fails with 403 `insufficient_scope` if the caller lacks this scope.
    pub(crate) fn require(&self, scope: &'static str) -> Result<(), ApiError> {
        if self.scope.contains(scope) {
            return Ok(());
        }
        Err(self.attribute(bearer::insufficient_scope(scope)))
    }

    /// Returns the user. Fails with 403 `forbidden` for a client that calls on its own behalf.
    pub(crate) fn user(&self) -> Result<CallingUser, ApiError> {
        self.user.ok_or_else(|| self.attribute(bearer::user_required()))
    }

    /// Returns the kind of the credentials.
    pub(crate) const fn method(&self) -> AuthenticationMethod {
        match self.credentials {
            Credentials::Session(_) => AuthenticationMethod::Session,
            Credentials::Token(_) => AuthenticationMethod::Bearer,
        }
    }

    /// Returns the client that sent the access token; `None` for a session.
    pub(crate) fn client_id(&self) -> Option<&str> {
        match &self.credentials {
            Credentials::Session(_) => None,
            Credentials::Token(token) => Some(&token.client_id),
        }
    }

    /// Returns the user and the credentials under which the request writes. Fails like [`user`](Self::user).
    pub(crate) fn authority(&self) -> Result<Authority, ApiError> {
        let user = self.user()?;
        Ok(match self.credentials {
            Credentials::Session(authority) => authority,
            Credentials::Token(_) => Authority {
                user_id: user.id,
                epoch: user.epoch,
                session_id: None,
                signed_in_at: None,
            },
        })
    }

    /// Returns the user as a reader of posts; `None` if the caller sees published posts only.
    pub(crate) fn viewer(&self) -> Option<Actor> {
        let user = self.user.filter(|_| self.scope.contains("posts:read"));
        user.map(CallingUser::actor)
    }

    /// Adds the caller to the error, for the security event that is recorded with it.
    pub(crate) fn attribute(&self, error: impl Into<ApiError>) -> ApiError {
        let user_id = self.user.map(|user| user.id);
        error.into().with_caller(user_id, self.client_id())
    }
}

impl CallingUser {
    /// Returns the user with the permissions on posts and comments.
    pub(crate) fn actor(self) -> Actor {
        Actor::new(self.id, self.role)
    }
}

impl From<Session> for Principal {
    fn from(session: Session) -> Self {
        let authority = session.authority();
        let user = CallingUser {
            id: session.user.id,
            role: session.user.role,
            epoch: authority.epoch,
        };
        Self {
            scope: user.role.scope(),
            user: Some(user),
            credentials: Credentials::Session(authority),
            expires_at: session.expires_at,
        }
    }
}
