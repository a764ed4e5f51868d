//! The extractors for routes that require a session and reject access tokens, and for a route to which a
//! session is one of two credentials.

use super::credentials::{self, Caller};
use crate::app::App;
use crate::error::{self, ApiError};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use identity::sessions::Session;
use web::body::Authorization;
use web::{csrf, error_responses};

/// The caller's session, even if the user has not yet replaced the initial password.
#[derive(Debug)]
pub(crate) struct CurrentSession(pub(crate) Session);

/// The caller's session. Fails with 403 if the user has not yet replaced the initial password.
#[derive(Debug)]
pub(crate) struct UnrestrictedSession(pub(crate) Session);

/// A write that needs no authentication, and the caller's session if there is one. An access token must be
/// valid, and is no session. A request without either must pass the CSRF check too.
#[derive(Debug)]
pub(crate) struct OptionalSession(Option<Caller>);

impl OptionalSession {
    /// Returns the session.
    pub(crate) fn session(&self) -> Option<&Session> {
        match &self.0 {
            Some(Caller::Session(session)) => Some(session),
            Some(Caller::Bearer(_)) | None => None,
        }
    }
}

error_responses!(OptionalSession: Unauthenticated, InvalidToken, CsrfMismatch;);
error_responses!(CurrentSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden;);
error_responses!(UnrestrictedSession: Unauthenticated, InvalidToken, CsrfMismatch, Forbidden, PasswordChangeRequired;);

impl FromRequestParts<App> for CurrentSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match credentials::caller(parts, app).await? {
            Some(Caller::Session(session)) => Ok(Self(session)),
            Some(Caller::Bearer(principal)) => Err(principal.attribute(error::session_required())),
            None => Err(error::unauthenticated().into()),
        }
    }
}

impl FromRequestParts<App> for OptionalSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = credentials::caller(parts, app).await?;
        if caller.is_none() {
            csrf::check(&parts.method, &parts.headers, &app.cors).await?;
        }
        Ok(Self(caller))
    }
}

impl FromRequestParts<App> for UnrestrictedSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let CurrentSession(session) = CurrentSession::from_request_parts(parts, app).await?;
        if session.password_change_required {
            return Err(error::password_change_required().into());
        }
        Ok(Self(session))
    }
}

impl Authorization<App> for CurrentSession {
    async fn check_again(&self, app: &App) -> Result<(), ApiError> {
        credentials::check_authority(self.0.authority(), app).await
    }
}

impl Authorization<App> for OptionalSession {
    async fn check_again(&self, app: &App) -> Result<(), ApiError> {
        match &self.0 {
            Some(Caller::Session(session)) => credentials::check_authority(session.authority(), app).await,
            Some(Caller::Bearer(principal)) => credentials::check_again(principal, app).await,
            None => Ok(()),
        }
    }
}

impl Authorization<App> for UnrestrictedSession {
    async fn check_again(&self, app: &App) -> Result<(), ApiError> {
        credentials::check_authority(self.0.authority(), app).await
    }
}
