//! The session of the browser that sent a request.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use shared::events::Context;
use shared::http::{Error, cookies};
use shared::identity::Identity;
use shared::identity::sessions::{self, Session};
use shared::secret::Secret;

/// The browser's session, if its cookie names a live one. Takes no access token into account.
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
        let session = sessions::find(&identity.db, &sid, identity.lifetimes, now).await?;
        Ok(Self(session))
    }
}

/// The value of the session cookie; `None` if it is missing or repeated.
pub(crate) fn session_cookie(headers: &HeaderMap) -> Option<Secret> {
    cookies::only(headers, cookies::SID).map(Secret::new)
}

/// The context of a request, set by the outermost middleware. Fails with 500 if that did not run.
pub(crate) fn request_context(extensions: &Extensions) -> Result<&Context, Error> {
    extensions
        .get()
        .ok_or_else(|| Error::internal(&"the request has no context"))
}
