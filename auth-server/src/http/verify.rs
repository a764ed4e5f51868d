//! `GET` and `POST /verify`: the page behind the link that confirms an e-mail address.

use super::documentation::{FormErrors, LinkErrors, VerifyErrors};
use super::extract::{PageForm, PageQuery};
use super::form_page::FormRenderer;
use super::forms::{LinkQuery, VerifyForm};
use super::paths;
use crate::pages;
use crate::pages::text;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use foundation::secret::Secret;
use identity::Identity;
use identity::email_verifications;
use identity::email_verifications::Error as VerifyError;
use web::Context;
use web::Error;

/// Show the page to confirm an e-mail address
///
/// Opening the link confirms nothing, because mail programs open links too.
#[utoipa::path(
    get, path = paths::VERIFY, operation_id = "showVerify", tag = "Pages", params(LinkQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
        LinkErrors,
    )
)]
pub(crate) async fn show(PageQuery(query): PageQuery<LinkQuery>, renderer: FormRenderer) -> Response {
    let token = query.token.as_str();
    if token.is_empty() {
        return invalid_link(StatusCode::BAD_REQUEST);
    }
    renderer.show(|form| pages::verify(&pages::VerifyPage { form, token }))
}

/// Submit the form to confirm an e-mail address
///
/// If the address replaces another one, all sessions of the user end.
#[utoipa::path(
    post, path = paths::VERIFY, operation_id = "submitVerify", tag = "Pages", security(()),
    request_body(content = VerifyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The address is confirmed.", body = String, content_type = "text/html"),
        FormErrors, VerifyErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    PageForm(fields): PageForm<VerifyForm>,
) -> Response {
    let token = Secret::new(fields.token);
    match email_verifications::confirm(&identity, &token, &context).await {
        Ok(()) => pages::notify_with_link(&text::of("verify-done"), paths::SIGN_IN),
        Err(VerifyError::TokenInvalid) => invalid_link(StatusCode::UNPROCESSABLE_ENTITY),
        Err(VerifyError::EmailTaken) => pages::error(StatusCode::CONFLICT, &text::of("verify-taken")),
        Err(error) => Error::from(error).into_response(),
    }
}

fn invalid_link(status: StatusCode) -> Response {
    pages::error_with_link(status, &text::of("invalid-link"), paths::ACCOUNT)
}
