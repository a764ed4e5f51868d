//! The extractor for routes that change something and need no authentication.

use super::credentials;
use crate::app::App;
use crate::error::ApiError;
use crate::principal::Principal;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use web::body::Authorization;
use web::{cookies, csrf, error_responses};

/// A write that needs no authentication. If the request has an access token, the token must be valid, and the
/// field holds its principal; otherwise the request must pass the CSRF check.
#[derive(Debug)]
pub(crate) struct PublicWrite(Option<Principal>);

error_responses!(PublicWrite: Unauthenticated, InvalidToken, CsrfMismatch;);

impl FromRequestParts<App> for PublicWrite {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let principal = credentials::by_token(parts, app).await?;
        if principal.is_none() {
            cookies::sid(&parts.headers)?;
            csrf::check(&parts.method, &parts.headers, &app.cors).await?;
        }
        Ok(Self(principal))
    }
}

impl Authorization<App> for PublicWrite {
    async fn check_again(&self, app: &App) -> Result<(), ApiError> {
        match &self.0 {
            Some(principal) => credentials::check_again(principal, app).await,
            None => Ok(()),
        }
    }
}
