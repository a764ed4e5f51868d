//! The extractors that protect `/admin/…`.

use crate::app::App;
use crate::http::access_token;
use crate::http::browser::find_session;
use access_tokens::{Subject, Token};
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use foundation::context::{self, RequestContext};
use identity::sessions::Session;
use identity::users::Role;
use std::ops::Deref;
use std::sync::Arc;
use web::body::Authorization;
use web::context::request_context;
use web::{Code, Error, bearer, csrf, error_responses, rate_limits};

/// The scope of access tokens for administration.
const SCOPE: &str = "admin";

/// An administrator, authenticated by a session without a pending password change, or by an access token with
/// the scope `admin`. The session cookie of a request with an `Authorization` header is ignored. Holds the
/// context of the request, for the changes that it causes.
#[derive(Debug)]
pub(crate) struct Administrator(pub(super) AdministratorContext);

/// The context of a request, and the credentials of its administrator, which are checked again after the
/// body.
#[derive(Debug)]
pub(crate) struct AdministratorContext {
    request: RequestContext,
    credentials: Credentials,
}

impl Deref for AdministratorContext {
    type Target = RequestContext;

    fn deref(&self) -> &RequestContext {
        &self.request
    }
}

error_responses!(
    Administrator: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired, InsufficientScope, Forbidden;
);

/// The credentials of a request, authenticated.
#[derive(Debug)]
enum Credentials {
    Session(Session),
    Token(Arc<Token>),
}

impl FromRequestParts<App> for Administrator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let credentials = Credentials::authenticate(parts, app).await?;
        let (user_id, client_id) = (credentials.user_id(), credentials.client_id());
        rate_limits::by_principal(&app.rate_limiter, parts, user_id, client_id.unwrap_or_default())?;
        credentials.authorize(parts, app).await?;
        let request = RequestContext {
            administrator: credentials.administrator(),
            ..request_context(&parts.extensions)?.as_ref().clone()
        };
        Ok(Self(AdministratorContext { request, credentials }))
    }
}

impl Authorization<App> for Administrator {
    async fn check_again(&self, app: &App) -> Result<(), Error> {
        let now = self.0.clock.now();
        match &self.0.credentials {
            Credentials::Token(token) => access_token::verify_again(&app.grants, token, now).await,
            Credentials::Session(session) => {
                let holds = session.authority().holds(app.identity.db.reader(), now).await?;
                holds.then_some(()).ok_or_else(unauthenticated)
            }
        }
    }
}

impl Credentials {
    /// Authenticates the caller. Fails with 401, and with 400 for several `Authorization` headers.
    async fn authenticate(parts: &Parts, app: &App) -> Result<Self, Error> {
        if let Some(presented) = bearer::token(&parts.headers)? {
            let verified = access_token::verify(&app.grants, parts, presented).await;
            return verified.map(Self::Token);
        }
        let session = match parts.headers.contains_key(header::AUTHORIZATION) {
            true => None,
            false => find_session(parts, &app.identity).await.map_err(challenge)?,
        };
        session.map(Self::Session).ok_or_else(unauthenticated)
    }

    /// Fails with 403 if the caller may not administer, or if a call with a session fails the CSRF check.
    async fn authorize(&self, parts: &Parts, app: &App) -> Result<(), Error> {
        let checked = match self {
            Self::Session(session) => authorize_session(session, parts, app).await,
            Self::Token(token) => authorize_token(token),
        };
        checked.map_err(|error| error.with_caller(self.user_id(), self.client_id()))
    }

    fn user_id(&self) -> Option<i64> {
        match self {
            Self::Session(session) => Some(session.user.id),
            Self::Token(token) => token.user_id(),
        }
    }

    fn administrator(&self) -> Option<context::Administrator> {
        match self {
            Self::Session(session) => Some(session.administrator()),
            Self::Token(token) => token.user_id().map(|user_id| context::Administrator {
                user_id,
                epoch: token.user_epoch,
                session: None,
            }),
        }
    }

    fn client_id(&self) -> Option<&str> {
        match self {
            Self::Session(_) => None,
            Self::Token(token) => Some(&token.client_id),
        }
    }
}

/// 401: the call needs an administrator.
fn unauthenticated() -> Error {
    bearer::unauthenticated(
        "Sign in as an administrator at /signin, or send an access token with the scope admin.",
    )
}

/// Adds the challenge that a 401 needs (RFC 9110 §15.5.2).
fn challenge(error: Error) -> Error {
    match error.code() {
        Code::Unauthenticated => error.header(header::WWW_AUTHENTICATE, "Bearer"),
        _ => error,
    }
}

async fn authorize_session(session: &Session, parts: &Parts, app: &App) -> Result<(), Error> {
    csrf::check(&parts.method, &parts.headers, &app.cors).await?;
    if session.password_change_required {
        return Err(Error::new(
            Code::PasswordChangeRequired,
            "Choose a new password at /password first.",
        ));
    }
    require_administrator(session.user.role)
}

fn authorize_token(token: &Token) -> Result<(), Error> {
    if !token.scope.contains(SCOPE) {
        return Err(bearer::insufficient_scope(SCOPE));
    }
    match token.subject {
        Subject::User(_, role) => require_administrator(role),
        Subject::Client => Err(bearer::user_required()),
    }
}

fn require_administrator(role: Role) -> Result<(), Error> {
    match role {
        Role::Admin => Ok(()),
        Role::User | Role::Editor => Err(Error::new(Code::Forbidden, "Only administrators may call this.")),
    }
}
