//! The extractor for routes that require an access token and ignore sessions.

use super::credentials;
use crate::app::App;
use crate::error::{self, ApiError};
use crate::principal::Principal;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use web::error_responses;

/// The caller that sent the access token. Cookies are ignored. Fails with 401 if there is no valid token.
#[derive(Debug)]
pub(crate) struct BearerOnly(pub(crate) Principal);

error_responses!(BearerOnly: Unauthenticated, InvalidToken;);

impl FromRequestParts<App> for BearerOnly {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let principal = credentials::by_token(parts, app).await?;
        Ok(principal.map(Self).ok_or_else(error::unauthenticated)?)
    }
}
