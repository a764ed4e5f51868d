//! Routes that need a session, never an access token.

use super::credentials::{self, Caller};
use crate::error;
use crate::router::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::http::Error;
use shared::identity::sessions::Session;
use shared::refuses;

/// The caller's session, which may be one whose password must be changed first.
#[derive(Debug)]
pub(crate) struct CurrentSession(pub(crate) Session);

/// The caller's session, of somebody with a password of their own.
#[derive(Debug)]
pub(crate) struct SettledSession(pub(crate) Session);

refuses!(CurrentSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden;);
refuses!(SettledSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden, PasswordChangeRequired;);

impl FromRequestParts<App> for CurrentSession {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        match credentials::caller(parts, app).await? {
            Some(Caller::Session(session)) => Ok(Self(session)),
            Some(Caller::Bearer(principal)) => Err(principal.refused(error::session_only())),
            None => Err(error::unauthenticated()),
        }
    }
}

impl FromRequestParts<App> for SettledSession {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let CurrentSession(session) = CurrentSession::from_request_parts(parts, app).await?;
        if session.password_change_required {
            return Err(error::password_change_required());
        }
        Ok(Self(session))
    }
}
