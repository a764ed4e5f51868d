//! The pages for administrators, under `/admin`.

pub(crate) mod clients;
pub(crate) mod consents;
pub(crate) mod dashboard;
pub(crate) mod events;
pub(crate) mod keys;
pub(crate) mod new_client;
pub(crate) mod sessions;
pub(crate) mod token_preview;
pub(crate) mod users;

use super::consent::require_session;
use super::flow::FlowError;
use super::form_page::FormError;
use super::reauthentication::require_recent_sign_in;
use super::redirects::see_other;
use crate::app::App;
use crate::pages::{self, text};
use crate::paths;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use identity::sessions::Session;
use identity::users::{Role, account};
use storage::db;
use tower::ServiceExt as _;
use web::content_negotiation::prefers_to_json;
use web::{Code, Error};

/// Middleware of calls whose paths are also those of pages: a browser that opens such a path gets the page. A
/// script does not, in a browser that sends `Sec-Fetch-Mode` (Fetch Metadata Request Headers §2.2), nor in
/// any browser if it could read the response from another origin, because its request has an `Origin` then.
pub(crate) async fn page_or_call(State(pages): State<Router>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let opens_page = request.method() == Method::GET
        && prefers_to_json(headers, "text/html")
        && headers
            .get("sec-fetch-mode")
            .is_none_or(|mode| mode == "navigate")
        && ![header::AUTHORIZATION, header::ORIGIN]
            .iter()
            .any(|name| headers.contains_key(name));
    let mut response = match opens_page {
        true => pages
            .oneshot(request)
            .await
            .unwrap_or_else(|never| match never {}),
        false => next.run(request).await,
    };
    let vary = HeaderValue::from_static("accept");
    response.headers_mut().append(header::VARY, vary);
    response
}

/// Returns the session if its user may administer. Otherwise fails like [`require_session`], or with 403.
/// Right after a sign-in, fails with a redirect to `page`, whose address then has no query.
fn require_administrator(
    session: Option<Session>,
    page: &str,
    just_signed_in: bool,
) -> Result<Session, FlowError> {
    let session = require_session(session, Some(page), just_signed_in)?;
    if just_signed_in {
        return Err(FlowError::Response(see_other(page)));
    }
    match session.user.role {
        Role::Admin => Ok(session),
        Role::User | Role::Editor => Err(FlowError::Response(forbidden(&session))),
    }
}

/// Returns the session as [`require_administrator`] does, if its sign-in is recent, and the context of a
/// change by its user.
fn require_recent_administrator(
    session: Option<Session>,
    page: &str,
    context: &RequestContext,
) -> Result<(Session, RequestContext), FlowError> {
    let session = require_administrator(session, page, false)?;
    let session = require_recent_sign_in(Some(session), page, false, context)?;
    let of_administrator = RequestContext {
        administrator: Some(session.administrator()),
        ..context.clone()
    };
    Ok((session, of_administrator))
}

/// Returns the path at which the administrator signs in again before a change on `page`, if the last sign-in
/// is too old for one.
fn sign_in_before_change(session: &Session, page: &str, now: Timestamp) -> Option<String> {
    (!session.has_recent_sign_in(now)).then(|| paths::sign_in(Some(page)))
}

/// Returns the query string of a list with the id of the user in place of the e-mail address that an
/// administrator typed in one of the fields with these names. An address that no user has stays, and is no
/// valid id. Empty fields, which impose no condition, are left out.
async fn with_ids(app: &App, query: &str, names: &[&str]) -> Result<String, db::Error> {
    let parameters = form_urlencoded::parse(query.as_bytes()).into_owned();
    let mut parameters: Vec<(String, String)> = parameters.filter(|(_, value)| !value.is_empty()).collect();
    for name in names {
        // As in the list, the first value counts.
        let Some((_, value)) = parameters.iter_mut().find(|(found, _)| found == name) else {
            continue;
        };
        let Ok(email) = Email::parse(value.trim()) else {
            continue;
        };
        if let Some(found) = account::find_by_email(&app.identity.db, &email).await? {
            *value = found.user.id.to_string();
        }
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    Ok(query.extend_pairs(parameters).finish())
}

fn forbidden(session: &Session) -> Response {
    let text = text::of("admin-only");
    let mut page = pages::error_of_user(StatusCode::FORBIDDEN, &text);
    // The security event is recorded from the error, and the user sees the page.
    let error = Error::new(Code::Forbidden, "Only administrators may see this page.");
    page.extensions_mut()
        .insert(error.with_caller(Some(session.user.id), None));
    page
}

/// Returns the error of a change that does not only end access, while the clock differs from that of the
/// database.
fn clock_differs() -> FormError {
    FormError::unavailable(&text::of("changes-clock-differs"))
}
