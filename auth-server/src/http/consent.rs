//! `GET` and `POST /consent`: the user decides, and the client gets its answer.

use super::authorize::error_response;
use super::browser::{Form, SignedIn, flow_secret, form_token, see_other, unavailable};
use super::describe::{ConsentForm, NoFlow, PageQuery};
use super::{password, signin};
use crate::flows::Flows;
use crate::grants::Grants;
use crate::grants::authorization::{CheckedRequest, ResourceOwner};
use crate::pages;
use crate::params::Params;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::events::Context;
use shared::http::{Error, Policy};
use shared::identity::sessions::Session;
use std::sync::Arc;

pub(crate) const PATH: &str = "/consent";

/// The query that leads to a flow's consent; `signed_in` says that a sign-in just succeeded.
pub(crate) fn query(flow: &str, signed_in: bool) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("flow", flow);
    if signed_in {
        query.append_pair("signed_in", "1");
    }
    query.finish()
}

/// Show the consent page
///
/// Unless the user was asked before and need not be again: then the client has its answer at once.
#[utoipa::path(
    get, path = PATH, operation_id = "showConsent", tag = "Pages", params(PageQuery), security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "On to sign-in, or back to the client.", headers(("Location"))),
        NoFlow,
    )
)]
pub(crate) async fn show(
    State(grants): State<Arc<Grants>>,
    State(flows): State<Flows>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
) -> Response {
    let params = Params::from_form(raw.unwrap_or_default().as_bytes());
    let flow = params.get("flow").unwrap_or_default();
    let Some(browser) = flow_secret(&headers) else {
        return pages::no_such_flow();
    };
    let request = match flows.find(flow, &browser, context.now).await {
        Ok(Some(request)) => request,
        Ok(None) => return pages::no_such_flow(),
        Err(error) => return unavailable(&error),
    };
    let session = match ready(session, flow, params.get("signed_in").is_some()) {
        Ok(session) => session,
        Err(elsewhere) => return elsewhere,
    };
    let checked = match grants.check_request(request).await {
        Ok(checked) => checked,
        Err(error) => return error_response(error),
    };
    match grants.is_remembered(&checked, session.user.id).await {
        Ok(false) => ask(&checked, &session, flow, &policy, &headers),
        Ok(true) => match flows.finish(flow, &browser, context.now).await {
            Ok(Some(_)) => allow(&grants, checked, &session, &context).await,
            Ok(None) => pages::no_such_flow(),
            Err(error) => unavailable(&error),
        },
        Err(error) => Error::from(error).into_response(),
    }
}

/// Decide
///
/// Allowed or denied, the browser goes back to the client.
#[utoipa::path(
    post, path = PATH, operation_id = "submitConsent", tag = "Pages", security((), ("session" = [])),
    request_body(content = ConsentForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "On to sign-in, or back to the client.", headers(("Location"))),
        Form, NoFlow,
    )
)]
pub(crate) async fn submit(
    State(grants): State<Arc<Grants>>,
    State(flows): State<Flows>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
    Form(fields): Form,
) -> Response {
    let flow = fields.get("flow").unwrap_or_default();
    let allowed = match fields.get("decision") {
        Some("allow") => true,
        Some("deny") => false,
        _ => {
            return pages::error(
                StatusCode::BAD_REQUEST,
                "No decision",
                "Go back and choose Allow or Deny.",
            );
        }
    };
    let session = match ready(session, flow, false) {
        Ok(session) => session,
        Err(elsewhere) => return elsewhere,
    };
    let Some(browser) = flow_secret(&headers) else {
        return pages::no_such_flow();
    };
    let request = match flows.finish(flow, &browser, context.now).await {
        Ok(Some(request)) => request,
        Ok(None) => return pages::no_such_flow(),
        Err(error) => return unavailable(&error),
    };
    let checked = match grants.check_request(request).await {
        Ok(checked) => checked,
        Err(error) => return error_response(error),
    };
    if allowed {
        return allow(&grants, checked, &session, &context).await;
    }
    match grants.deny(&checked, owner(&session), &context).await {
        Ok(to) => see_other(&to),
        Err(error) => Error::from(error).into_response(),
    }
}

/// The session, or where to go first.
fn ready(session: Option<Session>, flow: &str, just_signed_in: bool) -> Result<Session, Response> {
    match session {
        Some(session) if session.password_change_required => {
            Err(see_other(&format!("{}?{}", password::PATH, query(flow, false))))
        }
        Some(session) => Ok(session),
        None if just_signed_in => Err(pages::error(
            StatusCode::BAD_REQUEST,
            "Your browser did not keep the sign-in",
            "The password was right, but the cookie that says so did not come back. Allow cookies for this site. \
             Some browsers drop secure cookies on plain http, even on localhost: use Chrome or Firefox there.",
        )),
        None => Err(see_other(&format!("{}?{}", signin::PATH, query(flow, false)))),
    }
}

fn ask(
    checked: &CheckedRequest,
    session: &Session,
    flow: &str,
    policy: &Policy,
    headers: &HeaderMap,
) -> Response {
    let (csrf, cookie) = form_token(headers, policy);
    let page = pages::consent(&pages::Consent {
        csrf: &csrf,
        flow,
        client: &checked.client,
        scope: &checked.scope,
        redirect_uri: checked.redirect_uri(),
        email: &session.user.email,
    });
    (cookie, page).into_response()
}

async fn allow(grants: &Grants, checked: CheckedRequest, session: &Session, context: &Context) -> Response {
    match grants.allow(checked, owner(session), context).await {
        Ok(to) => see_other(&to),
        Err(error) => error_response(error),
    }
}

fn owner(session: &Session) -> ResourceOwner {
    ResourceOwner {
        user_id: session.user.id,
        session_id: session.id,
    }
}
