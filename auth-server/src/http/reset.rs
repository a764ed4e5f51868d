//! `GET` and `POST /reset`: where the link of a password reset leads.

use super::browser::{Form, after, form_token, mailed_token};
use super::describe::{LinkQuery, NoLink, ResetAgain, ResetForm};
use super::signin;
use crate::pages;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::events::Context;
use shared::http::{Error, Policy};
use shared::identity::resets::{self, Error as ResetError};
use shared::identity::{Identity, passwords};
use shared::mail::Link;
use shared::secret::Secret;
use std::sync::Arc;
use std::time::Duration;

/// Show the page that a password is reset on
///
/// For who has the link from the mail. Looking at it uses nothing up.
#[utoipa::path(
    get, path = Link::RESET, operation_id = "showReset", tag = "Pages", params(LinkQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "To the same page by the name that cookies are bound to.", headers(("Location"))),
        NoLink,
    )
)]
pub(crate) async fn show(
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    match mailed_token(query.as_deref()) {
        Some(token) => form(&policy, &headers, StatusCode::OK, &token, ""),
        None => pages::no_such_link(StatusCode::BAD_REQUEST),
    }
}

/// Set a new password by the page
///
/// Every session ends with it, and nobody is signed in by it.
#[utoipa::path(
    post, path = Link::RESET, operation_id = "submitReset", tag = "Pages", security(()),
    request_body(content = ResetForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The password is set.", body = String, content_type = "text/html"),
        Form, ResetAgain,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    Form(fields): Form,
) -> Response {
    let token = Secret::new(fields.get("token").unwrap_or_default());
    let again = |status, says: &str| form(&policy, &headers, status, &token, says);
    let new = fields.get("new_password").unwrap_or_default();
    let new = match identity.passwords.choose(new) {
        Ok(new) => new,
        Err(what) => {
            let says = format!("The new password {what}.");
            return again(StatusCode::UNPROCESSABLE_ENTITY, &says);
        }
    };
    match resets::confirm(&identity, &token, new, &context).await {
        Ok(()) => pages::done(
            "Your password is set",
            "Every session was signed out and every app was disconnected.",
            Some((signin::PATH, "Sign in with the new password")),
        ),
        Err(ResetError::TokenInvalid) => pages::no_such_link(StatusCode::UNPROCESSABLE_ENTITY),
        Err(ResetError::Passwords(passwords::Error::Overloaded)) => {
            let says = "Many people are signing in right now. Try again in a moment.";
            after(
                Some(Duration::from_secs(1)),
                again(StatusCode::SERVICE_UNAVAILABLE, says),
            )
        }
        Err(error) => Error::from(error).into_response(),
    }
}

fn form(
    policy: &Policy,
    headers: &HeaderMap,
    status: StatusCode,
    token: &Secret,
    complaint: &str,
) -> Response {
    let (csrf, cookie) = form_token(headers, policy);
    let page = pages::reset(&pages::Reset {
        csrf: &csrf,
        token: token.expose(),
        complaint,
    });
    (status, cookie, page).into_response()
}
