//! `GET` and `POST /reset`: the page behind the link of a password reset.

use super::documentation::{FormErrors, LinkErrors, ResetErrors};
use super::extract::{PageForm, PageQuery};
use super::form_page::{FormError, FormRenderer};
use super::forms::{LinkQuery, ResetForm};
use super::paths;
use crate::pages;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::{Identity, password_resets};
use web::Context;

/// Show the page to reset the password
///
/// Opening the link does not use it up, because mail programs open links too.
#[utoipa::path(
    get, path = paths::RESET, operation_id = "showReset", tag = "Pages", params(LinkQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
        LinkErrors,
    )
)]
pub(crate) async fn show(PageQuery(query): PageQuery<LinkQuery>, renderer: FormRenderer) -> Response {
    let token = query.token.as_str();
    if token.is_empty() {
        return pages::invalid_link(StatusCode::BAD_REQUEST);
    }
    renderer.show(|form| pages::render(&pages::ResetPage { form, token }))
}

/// Submit the form to reset the password
///
/// Ends all sessions of the user, and starts none.
#[utoipa::path(
    post, path = paths::RESET, operation_id = "submitReset", tag = "Pages", security(()),
    request_body(content = ResetForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The password was changed.", body = String, content_type = "text/html"),
        FormErrors, ResetErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    PageForm(fields): PageForm<ResetForm>,
) -> Response {
    let token = fields.token.as_str();
    match reset(&identity, &fields, &context).await {
        Ok(()) => pages::message(
            "Your password was changed",
            "You were signed out on all devices, and all apps were disconnected.",
            Some((paths::SIGN_IN, "Sign in with the new password")),
        ),
        Err(error) => renderer.show_again(error, |form| pages::render(&pages::ResetPage { form, token })),
    }
}

async fn reset(identity: &Identity, fields: &ResetForm, context: &RequestContext) -> Result<(), FormError> {
    let password = identity
        .passwords
        .parse_new(&fields.new_password)
        .map_err(|problem| FormError::invalid(format!("The new password {problem}.")))?;
    let token = Secret::new(fields.token.as_str());
    Ok(password_resets::confirm(identity, &token, password, context).await?)
}
