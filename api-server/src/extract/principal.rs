//! Extraction of the authenticated caller.

use super::credentials::{self, Caller};
use crate::app::App;
use crate::error::{self, ApiError};
use crate::principal::Principal;
use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use web::error_responses;

error_responses!(Principal: Unauthenticated, InvalidToken, CsrfMismatch, PasswordChangeRequired;);

impl FromRequestParts<App> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let principal = <Self as OptionalFromRequestParts<App>>::from_request_parts(parts, app).await?;
        Ok(principal.ok_or_else(error::unauthenticated)?)
    }
}

impl OptionalFromRequestParts<App> for Principal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, ApiError> {
        match credentials::caller(parts, app).await? {
            None => Ok(None),
            Some(Caller::Bearer(principal)) => Ok(Some(principal)),
            Some(Caller::Session(session)) if session.password_change_required => {
                Err(error::password_change_required().into())
            }
            Some(Caller::Session(session)) => Ok(Some(session.into())),
        }
    }
}
