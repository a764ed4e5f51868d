//! `GET` and `POST /forgot`: request a link to choose a new password.

use super::documentation::{FormErrors, LinkRequestErrors};
use super::extract::{PageForm, PageQuery};
use super::flow;
use super::form_page::{self, FormError, FormRenderer};
use super::forms::{FlowQuery, ForgotForm};
use crate::pages::{self, FormState};
use crate::paths;
use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::email::Email;
use identity::{Identity, password_resets};
use web::Context;

/// Show the page for a forgotten password
///
/// The form asks for the e-mail address of the account. An authorization flow continues after a reset in this
/// browser.
#[utoipa::path(
    get, path = paths::FORGOT, operation_id = "showForgotten", tag = "Pages", params(FlowQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
    )
)]
pub(crate) async fn show(PageQuery(query): PageQuery<FlowQuery>, renderer: FormRenderer) -> Response {
    renderer.show(|form| page(form, query.flow.as_deref(), ""))
}

fn page(form: FormState<'_>, flow: Option<&str>, email: &str) -> Response {
    pages::forgot(&pages::ForgotPage {
        form,
        flow,
        email,
        sign_in: paths::sign_in(flow),
    })
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
        FormErrors, LinkRequestErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    PageForm(fields): PageForm<ForgotForm>,
) -> Response {
    let (email, flow) = (fields.email.as_str(), fields.flow.as_deref());
    if let Err(error) = request(&identity, email, &context).await {
        return renderer.show_again(error, |form| page(form, flow, email));
    }
    let mut sent = renderer.show(|form| {
        pages::forgot_sent(&pages::ForgotSentPage {
            form,
            flow,
            email: email.trim(),
            other: paths::of_flow(paths::FORGOT, flow),
            sign_in: paths::sign_in(flow),
        })
    });
    let cookie = flow::interrupted_cookie(flow, paths::RESET);
    sent.headers_mut().append(header::SET_COOKIE, cookie);
    sent
}

async fn request(identity: &Identity, email: &str, context: &RequestContext) -> Result<(), FormError> {
    let email = Email::parse(email).map_err(|_| form_page::email_invalid())?;
    Ok(password_resets::request(identity, &email, context).await?)
}
