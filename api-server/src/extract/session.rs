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
