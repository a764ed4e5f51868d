//! `GET` and `POST /authorize` (RFC 6749 §4.1.1).

use super::browser::{AuthorizeParams, SignedIn, ensure_flow_secret, see_other};
use super::consent;
use crate::flows::Flows;
use crate::grants::Grants;
use crate::grants::authorization::Refusal;
use crate::pages;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use shared::events::Context;
use shared::http::{Error, Policy};
use std::sync::Arc;

/// Checks the request, keeps it, and sends the browser on to sign in or to consent.
pub(crate) async fn authorize(
    State(grants): State<Arc<Grants>>,
    State(flows): State<Flows>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
    AuthorizeParams(params): AuthorizeParams,
) -> Response {
    if let Err(refusal) = grants.check_request(params.clone()).await {
        return refused(refusal);
    }
    let (secret, cookie) = ensure_flow_secret(&headers, &policy);
    let flow = flows.begin(params, &secret, context.now);
    let page = if session.is_some() {
        consent::PATH
    } else {
        super::signin::PATH
    };
    (
        AppendHeaders([(header::SET_COOKIE, cookie)]),
        see_other(&format!("{page}?flow={flow}")),
    )
        .into_response()
}

/// What a refused request looks like from the browser.
pub(crate) fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Page(says) => pages::error(StatusCode::BAD_REQUEST, "This request cannot go on", &says),
        Refusal::Redirect(to) => see_other(&to),
        Refusal::Database(error) => Error::from(error).into_response(),
    }
}
