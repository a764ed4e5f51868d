//! The session of the browser that sent a request.

use super::flow::PageFlow;
use crate::pages::{self, text};
use crate::paths;
use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use foundation::clock::Timestamp;
use identity::Identity;
use identity::sessions::{self, Session};
use issuer::grants::interaction::Demands;
use storage::db;
use web::context::request_context;
use web::{Code, Error, cookies};

/// The session that the session cookie names; `None` if the cookie is missing, or if the session does not
/// exist or has ended. Rejects with a page with the status 400 if there are several session cookies. The
/// Authorization header is ignored.
pub(crate) struct BrowserSession(pub(super) Option<Session>);

impl<S: Send + Sync> FromRequestParts<S> for BrowserSession
where
    Identity: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let session = find_session(parts, &Identity::from_ref(state)).await;
        session.map(Self).map_err(rejection)
    }
}

/// Returns the session that the session cookie names, as [`BrowserSession`] has it. Fails with 401 if there
/// are several session cookies.
pub(crate) async fn find_session(parts: &Parts, identity: &Identity) -> Result<Option<Session>, Error> {
    let Some(sid) = cookies::sid(&parts.headers)? else {
        return Ok(None);
    };
    let now = request_context(&parts.extensions)?.now;
    Ok(sessions::find(&identity.db, &sid, identity.session_lifetimes, now).await?)
}

/// Returns the session that the session cookie in these headers names. Several such cookies count as none.
pub(super) async fn session_of(
    identity: &Identity,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Option<Session>, db::Error> {
    match cookies::sid(headers) {
        Ok(Some(sid)) => sessions::find(&identity.db, &sid, identity.session_lifetimes, now).await,
        _ => Ok(None),
    }
}

/// Returns the user of this session for a page whose form replaces the session.
pub(super) fn present_user(session: &Session, flow: &PageFlow<'_>, now: Timestamp) -> pages::PresentUser {
    let request = flow.request.as_ref();
    let needs_sign_in = request.is_some_and(|request| Demands::may_need_sign_in(request, session, now));
    pages::PresentUser {
        email: session.user.email.clone(),
        continue_path: match flow.parameter {
            _ if needs_sign_in => None,
            Some(flow) => Some(paths::continuation(flow, &[])),
            None => Some(paths::ACCOUNT.to_owned()),
        },
    }
}

/// Returns the `Set-Cookie` value that removes the session cookie, if its session has ended: after a change
/// that ends all sessions, the next sign-in page of the browser in which it was made shows no reason.
pub(super) async fn removal_of_ended(
    identity: &Identity,
    headers: &HeaderMap,
    now: Timestamp,
) -> Option<HeaderValue> {
    let sid = cookies::sid(headers).ok().flatten()?;
    let session = sessions::find(&identity.db, &sid, identity.session_lifetimes, now).await;
    matches!(session, Ok(None)).then(cookies::clear_sid)
}

/// Returns the response of a page to an error of [`find_session`] or of the session cookie.
pub(crate) fn rejection(error: Error) -> Response {
    if error.code() != Code::Unauthenticated {
        return error.into_response();
    }
    let mut page = pages::error(StatusCode::BAD_REQUEST, &text::of("two-cookies"), paths::SIGN_IN);
    let refused = error.into_response();
    for removal in refused.headers().get_all(header::SET_COOKIE) {
        page.headers_mut().append(header::SET_COOKIE, removal.clone());
    }
    page
}
