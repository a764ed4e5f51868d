//! `GET` and `POST /forgot`: a link to a new password is asked for.

use super::browser::{Form, after, form_token, unsent};
use super::describe::{ForgotAgain, ForgotForm};
use crate::pages;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::events::Context;
use shared::http::Policy;
use shared::identity::email::Email;
use shared::identity::{Identity, resets};
use std::sync::Arc;

pub(crate) const PATH: &str = "/forgot";

/// Show the page for a forgotten password
///
/// It asks for the address of the account.
#[utoipa::path(
    get, path = PATH, operation_id = "showForgotten", tag = "Pages", security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "To the same page by the name that cookies are bound to.", headers(("Location"))),
    )
)]
pub(crate) async fn show(State(policy): State<Arc<Policy>>, headers: HeaderMap) -> Response {
    form(&policy, &headers, StatusCode::OK, "", "")
}

/// Ask for a new password by the page
///
/// The answer is the same whether there is such an account or none.
#[utoipa::path(
    post, path = PATH, operation_id = "submitForgotten", tag = "Pages", security(()),
    request_body(content = ForgotForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "If there is such an account, a mail is on its way.", body = String,
         content_type = "text/html"),
        Form, ForgotAgain,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    Form(fields): Form,
) -> Response {
    let given = fields.get("email").unwrap_or_default();
    let again = |status, says: &str| form(&policy, &headers, status, given, says);
    let email = match Email::parse(given) {
        Ok(email) => email,
        Err(what) => return again(StatusCode::UNPROCESSABLE_ENTITY, &format!("The address {what}.")),
    };
    match resets::request(&identity, &email, &context).await {
        Ok(()) => pages::done(
            "Look into your mail",
            "If there is an account with this address, a link to a new password is on its way. It may take a minute.",
            None,
        ),
        Err(refusal) => match unsent(refusal) {
            Ok((status, says, wait)) => after(Some(wait), again(status, &says)),
            Err(error) => error.into_response(),
        },
    }
}

fn form(policy: &Policy, headers: &HeaderMap, status: StatusCode, email: &str, complaint: &str) -> Response {
    let (csrf, cookie) = form_token(headers, policy);
    let page = pages::forgot(&pages::Forgot {
        csrf: &csrf,
        email,
        complaint,
    });
    (status, cookie, page).into_response()
}
