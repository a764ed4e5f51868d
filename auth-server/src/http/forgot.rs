//! `GET` and `POST /forgot`: request a link to choose a new password.

use super::documentation::{ForgotErrors, FormErrors};
use super::extract::PageForm;
use super::form_page::{FormError, FormRenderer};
use super::forms::ForgotForm;
use super::paths;
use crate::pages;
use crate::pages::text;
use axum::extract::State;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::email::Email;
use identity::{Identity, password_resets};
use web::Context;

/// Show the page for a forgotten password
///
/// The form asks for the e-mail address of the account.
#[utoipa::path(
    get, path = paths::FORGOT, operation_id = "showForgotten", tag = "Pages", security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
    )
)]
pub(crate) async fn show(renderer: FormRenderer) -> Response {
    renderer.show(|form| pages::forgot(&pages::ForgotPage { form, email: "" }))
}

/// Submit the form for a forgotten password
///
/// The response is the same whether or not an account with the address exists.
#[utoipa::path(
    post, path = paths::FORGOT, operation_id = "submitForgotten", tag = "Pages", security(()),
    request_body(content = ForgotForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "If an account with the address exists, a mail is on its way.", body = String,
         content_type = "text/html"),
        FormErrors, ForgotErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    PageForm(fields): PageForm<ForgotForm>,
) -> Response {
    let email = fields.email.as_str();
    match request(&identity, email, &context).await {
        Ok(()) => pages::notify(&text::of("forgot-sent")),
        Err(error) => renderer.show_again(error, |form| pages::forgot(&pages::ForgotPage { form, email })),
    }
}

async fn request(identity: &Identity, email: &str, context: &RequestContext) -> Result<(), FormError> {
    let email = Email::parse(email).map_err(|_| FormError::invalid(&text::of("email-invalid")))?;
    Ok(password_resets::request(identity, &email, context).await?)
}
