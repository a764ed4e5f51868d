//! Who may call `/admin/…`: an administrator's session.

use crate::app::App;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use shared::events::Context;
use shared::http::{Code, Error, cookies, csrf, limits};
use shared::identity::sessions::{self, Session};
use shared::identity::users::Role;
use shared::refuses;
use shared::secret::Secret;

/// The session of an administrator who has chosen a password of their own. An access token is not asked for
/// here, and none helps: beside one the session does not count, as everywhere.
#[derive(Debug)]
pub(crate) struct Administrator;

refuses!(Administrator: Unauthenticated, CsrfMismatch, PasswordChangeRequired, Forbidden;);

impl FromRequestParts<App> for Administrator {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Error> {
        let session = find(parts, app).await?.ok_or_else(|| {
            Error::new(Code::Unauthenticated, "Sign in as an administrator at /signin.")
                .header(header::WWW_AUTHENTICATE, "Bearer")
        })?;
        let user_id = Some(session.user.id);
        limits::by_principal(&app.limits, &format!("{}/", session.user.id), parts)?;
        csrf::check(&parts.method, &parts.headers, &app.policy)
            .map_err(|mismatch| Error::from(mismatch).by(user_id, None))?;
        if session.password_change_required {
            return Err(Error::new(
                Code::PasswordChangeRequired,
                "Choose a password of your own first: at /password.",
            ));
        }
        if session.user.role != Role::Admin {
            return Err(Error::new(Code::Forbidden, "This is for administrators.").by(user_id, None));
        }
        Ok(Self)
    }
}

async fn find(parts: &Parts, app: &App) -> Result<Option<Session>, Error> {
    let Some(sid) = sid(&parts.headers) else {
        return Ok(None);
    };
    let context = parts.extensions.get::<Context>();
    let now = context.map_or_else(shared::clock::now, |context| context.now);
    Ok(sessions::find(&app.identity.db, &sid, app.identity.lifetimes, now).await?)
}

fn sid(headers: &HeaderMap) -> Option<Secret> {
    if headers.contains_key(header::AUTHORIZATION) {
        return None;
    }
    cookies::only(headers, cookies::SID).map(Secret::new)
}
