//! Authentication of a request: by its access token, or else by its session cookie.

use crate::app::App;
use crate::error::{self, ApiError};
use crate::principal::{CallingUser, Credentials, Principal};
use access_tokens::Subject;
use axum::http::request::Parts;
use foundation::clock;
use identity::authority::Authority;
use identity::sessions::{self, Session};
use web::context::request_context;
use web::{bearer, cookies, csrf, dpop, rate_limits};

/// The caller of a request by the kind of its credentials.
#[derive(Debug)]
pub(super) enum Caller {
    /// A session. The request has passed the CSRF check.
    Session(Session),
    /// An access token.
    Bearer(Principal),
}

/// Authenticates the caller; `None` if the request has no credentials, or the cookie of an unknown or expired
/// session. If the request has an access token, its session cookie is ignored, even if the token is invalid.
/// Fails like [`by_token`], with 401 for several session cookies, and with 403 if a call with a session fails
/// the CSRF check.
pub(super) async fn caller(parts: &Parts, app: &App) -> Result<Option<Caller>, ApiError> {
    if let Some(principal) = by_token(parts, app).await? {
        return Ok(Some(Caller::Bearer(principal)));
    }
    let Some(sid) = cookies::sid(&parts.headers)? else {
        return Ok(None);
    };
    let now = request_context(&parts.extensions)?.now;
    let Some(session) = sessions::find(&app.db, &sid, app.identity.session_lifetimes, now).await? else {
        return Ok(None);
    };
    rate_limits::by_principal(&app.rate_limiter, parts, Some(session.user.id), "")?;
    csrf::check(&parts.method, &parts.headers, &app.cors)
        .await
        .map_err(|mismatch| ApiError::from(mismatch).with_caller(Some(session.user.id), None))?;
    Ok(Some(Caller::Session(session)))
}

/// Authenticates the caller by its access token; `None` if the request has none. Fails with 400 for several
/// `Authorization` headers, with 401 if the token is invalid or the caller does not prove the possession
/// of its key, and with 429 if the caller is over its rate limit.
pub(super) async fn by_token(parts: &Parts, app: &App) -> Result<Option<Principal>, ApiError> {
    let Some(presented) = bearer::token(&parts.headers)? else {
        return Ok(None);
    };
    let token = app
        .verifier
        .verify(presented.token, request_context(&parts.extensions)?.now)
        .await?;
    let key = token.key_thumbprint.as_deref();
    dpop::check_possession(&app.proofs, parts, &app.metadata.resource, presented, key).await?;
    let user = match token.subject {
        Subject::Client => None,
        Subject::User(id, role) => Some(CallingUser {
            id,
            role,
            epoch: token.user_epoch,
        }),
    };
    let user_id = user.map(|user| user.id);
    rate_limits::by_principal(&app.rate_limiter, parts, user_id, &token.client_id)?;
    Ok(Some(Principal {
        user,
        scope: token.scope,
        expires_at: token.expires_at,
        credentials: Credentials::Token(token),
    }))
}

/// Checks that the credentials of the caller are still valid. Fails with 401 if they have ended, and with 503
/// if that cannot be decided.
pub(super) async fn check_again(principal: &Principal, app: &App) -> Result<(), ApiError> {
    match &principal.credentials {
        Credentials::Token(token) => Ok(app.verifier.verify_again(token, clock::now()).await?),
        Credentials::Session(_) => check_authority(principal.authority()?, app).await,
    }
}

/// Fails with 401 if the authority has ended, and with 503 if the database is unavailable.
pub(super) async fn check_authority(authority: Authority, app: &App) -> Result<(), ApiError> {
    let holds = authority.holds(app.db.reader(), clock::now()).await?;
    Ok(holds.then_some(()).ok_or_else(error::unauthenticated)?)
}
