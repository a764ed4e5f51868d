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

refuses!(CurrentSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden;);

/// The same, of a user whose password is their own.
#[derive(Debug)]
pub(crate) struct OwnSession(pub(crate) Session);

refuses!(OwnSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden, PasswordChangeRequired;);

impl FromRequestParts<App> for OwnSession {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let CurrentSession(session) = CurrentSession::from_request_parts(parts, app).await?;
        match session.password_change_required {
            true => Err(error::password_change_required()),
            false => Ok(Self(session)),
        }
    }
}

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
