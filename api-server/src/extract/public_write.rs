//! The extractor for routes that change something and need no authentication.

use super::credentials;
use crate::app::App;
use crate::error::ApiError;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use web::error_responses;
use web::{cookies, csrf};

/// A write by an unauthenticated caller. If the request has an access token, the token must be valid; otherwise the
/// request must pass the CSRF check.
#[derive(Debug)]
pub(crate) struct PublicWrite;

error_responses!(PublicWrite: Unauthenticated, InvalidToken, CsrfMismatch;);

impl FromRequestParts<App> for PublicWrite {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if credentials::by_token(parts, app).await?.is_none() {
            cookies::sid(&parts.headers)?;
            csrf::check(&parts.method, &parts.headers, &app.cors).await?;
        }
        Ok(Self)
    }
}
