//! Routes that need an access token, never a session.

use super::credentials;
use super::principal::Principal;
use crate::error;
use crate::router::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::http::Error;
use shared::refuses;

/// Who sent the access token. Cookies are not looked at.
#[derive(Debug)]
pub(crate) struct BearerOnly(pub(crate) Principal);

refuses!(BearerOnly: Unauthenticated, InvalidToken;);

impl FromRequestParts<App> for BearerOnly {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let principal = credentials::by_token(parts, app).await?;
        principal.map(Self).ok_or_else(error::unauthenticated)
    }
}
