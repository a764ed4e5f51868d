//! `GET` and `POST /password`: a new password, for those who must choose one before they go on.

use super::browser::{Form, SignedIn, after, form_token, refusal, see_other};
use super::describe::{PageQuery, PasswordAgain, PasswordForm};
use super::{consent, signin};
use crate::pages;
use crate::params::Params;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use shared::events::Context;
use shared::http::{Policy, cookies};
use shared::identity::Identity;
use shared::identity::login::{self, change_password};
use shared::identity::passwords::Password;
use std::sync::Arc;

pub(crate) const PATH: &str = "/password";

/// Show the page for a new password
///
/// To who is signed in, be it by a one-time password.
#[utoipa::path(
    get, path = PATH, operation_id = "showPassword", tag = "Pages", params(PageQuery), security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Sign in first.", headers(("Location"))),
    )
)]
pub(crate) async fn show(
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
) -> Response {
    let params = Params::from_form(query.unwrap_or_default().as_bytes());
    match session {
        Some(_) => form(&policy, &headers, params.get("flow"), StatusCode::OK, ""),
        None => back_to_sign_in(params.get("flow")),
    }
}

/// Change one's password by the page
///
/// Every session ends with it, so the person signs in again.
#[utoipa::path(
    post, path = PATH, operation_id = "submitPassword", tag = "Pages", security((), ("session" = [])),
    request_body(content = PasswordForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "On to sign-in.", headers(("Location"))),
        Form, PasswordAgain,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    SignedIn(session): SignedIn,
    Form(fields): Form,
) -> Response {
    let flow = fields.get("flow");
    let Some(session) = session else {
        return back_to_sign_in(flow);
    };
    let again = |status, says: &str| form(&policy, &headers, flow, status, says);
    let new = match identity.passwords.choose_for(
        fields.get("new_password").unwrap_or_default(),
        &session.user.email,
    ) {
        Ok(new) => new,
        Err(what) => {
            return again(
                StatusCode::UNPROCESSABLE_ENTITY,
                &format!("The new password {what}."),
            );
        }
    };
    let Ok(current) = Password::attempt(fields.get("current_password").unwrap_or_default()) else {
        return again(StatusCode::UNPROCESSABLE_ENTITY, "The current password is wrong.");
    };
    match change_password(&identity, &session, current, new, &context).await {
        Ok(()) => (
            AppendHeaders([(header::SET_COOKIE, cookies::clear_sid())]),
            back_to_sign_in(flow),
        )
            .into_response(),
        Err(login::Error::Wrong) => again(StatusCode::UNPROCESSABLE_ENTITY, "The current password is wrong."),
        Err(error) => match refusal(error) {
            Ok((status, says, wait)) => after(wait, again(status, &says)),
            Err(error) => error.into_response(),
        },
    }
}

fn back_to_sign_in(flow: Option<&str>) -> Response {
    match flow {
        Some(flow) => see_other(&format!("{}?{}", signin::PATH, consent::query(flow, false))),
        None => see_other(signin::PATH),
    }
}

fn form(
    policy: &Policy,
    headers: &HeaderMap,
    flow: Option<&str>,
    status: StatusCode,
    complaint: &str,
) -> Response {
    let (csrf, cookie) = form_token(headers, policy);
    let page = pages::password(&pages::NewPassword {
        csrf: &csrf,
        flow: flow.unwrap_or_default(),
        complaint,
    });
    (status, cookie, page).into_response()
}
