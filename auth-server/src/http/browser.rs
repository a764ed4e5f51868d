//! The session of the browser that sent a request.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use foundation::secret::Secret;
use identity::Identity;
use identity::sessions;
use identity::sessions::Session;
use web::context::request_context;
use web::{Error, cookies};

/// The session that the session cookie names; `None` if the cookie is missing or repeated, or if the session does not
/// exist or has ended. The Authorization header is ignored.
pub(crate) struct BrowserSession(pub(super) Option<Session>);

impl<S: Send + Sync> FromRequestParts<S> for BrowserSession
where
    Identity: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Some(sid) = session_cookie(&parts.headers) else {
            return Ok(Self(None));
        };
        let identity = Identity::from_ref(state);
        let now = request_context(&parts.extensions)?.now;
        let session = sessions::find(&identity.db, &sid, identity.session_lifetimes, now).await?;
        Ok(Self(session))
    }
}

/// Returns the value of the session cookie, or `None` if the cookie is missing or repeated.
pub(crate) fn session_cookie(headers: &HeaderMap) -> Option<Secret> {
    cookies::single(headers, cookies::SID).map(Secret::new)
}
