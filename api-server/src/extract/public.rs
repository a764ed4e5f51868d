//! Routes that need nobody and change something.

use super::credentials;
use crate::router::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use shared::http::{Error, csrf};
use shared::refuses;

/// Whoever it is: an access token, where one is sent, is good; a call without one is no forgery.
#[derive(Debug)]
pub(crate) struct Public;

refuses!(Public: Unauthenticated, InvalidToken, CsrfMismatch;);

impl FromRequestParts<App> for Public {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        if credentials::by_token(parts, app).await?.is_none() {
            credentials::sid(&parts.headers)?;
            csrf::check(&parts.method, &parts.headers, &app.policy)?;
        }
        Ok(Self)
    }
}
