//! The extractor that protects `/admin/…`.

use super::browser::BrowserSession;
use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use identity::sessions::Session;
use identity::users::Role;
use web::error_responses;
use web::{Code, Error, csrf, rate_limits};

/// A caller with an administrator's session and without a pending password change. Access tokens
/// are not accepted here: as everywhere, a request with an Authorization header has no session.
#[derive(Debug)]
pub(crate) struct Administrator;

error_responses!(Administrator: Unauthenticated, CsrfMismatch, PasswordChangeRequired, Forbidden;);

impl FromRequestParts<App> for Administrator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let session = find_session(parts, app).await?.ok_or_else(|| {
            Error::new(Code::Unauthenticated, "Sign in as an administrator at /signin.")
                .header(header::WWW_AUTHENTICATE, "Bearer")
        })?;
        let user_id = Some(session.user.id);
        // The API names a principal by "user/client"; a session belongs to no client.
        rate_limits::by_principal(&app.rate_limiter, parts, || format!("{}/", session.user.id))?;
        csrf::check(&parts.method, &parts.headers, &app.policy)
            .map_err(|mismatch| Error::from(mismatch).with_caller(user_id, None))?;
        if session.password_change_required {
            return Err(Error::new(
                Code::PasswordChangeRequired,
                "Choose a new password at /password first.",
            ));
        }
        if session.user.role != Role::Admin {
            return Err(
                Error::new(Code::Forbidden, "Only administrators may call this.").with_caller(user_id, None)
            );
        }
        Ok(Self)
    }
}

async fn find_session(parts: &mut Parts, app: &App) -> Result<Option<Session>, Error> {
    if parts.headers.contains_key(header::AUTHORIZATION) {
        return Ok(None);
    }
    let BrowserSession(session) = BrowserSession::from_request_parts(parts, app).await?;
    Ok(session)
}
