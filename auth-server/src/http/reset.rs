//! `GET` and `POST /reset`: the page behind the link of a password reset.

use super::documentation::{FormErrors, LinkErrors, ResetErrors};
use super::extract::{PageForm, PageQuery};
use super::form_page::{FormError, FormRenderer};
use super::forms::{LinkQuery, ResetForm};
use super::{flow, mailed_link};
use crate::app::App;
use crate::pages::{self, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::secret::Secret;
use identity::{Identity, password_resets};
use web::{Context, Error, cookies};

/// Show the page to reset the password
///
/// Opening the link does not use it up, because mail programs open links too. It shows the address of the
/// account, to which it was mailed.
#[utoipa::path(
    get, path = paths::RESET, operation_id = "showReset", tag = "Pages", params(LinkQuery), security(()),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the same page on the host of the base URL.", headers(("Location"))),
        LinkErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    PageQuery(query): PageQuery<LinkQuery>,
    headers: HeaderMap,
    renderer: FormRenderer,
) -> Result<Response, Error> {
    let token = mailed_link::token(query, &headers);
    let link = password_resets::find(&identity, &token, context.now).await?;
    Ok(match link {
        Some(link) => {
            let cookie = cookies::header_of(mailed_link::cookie(&token, paths::RESET));
            let page = renderer.show(|form| page(&identity, form, &token, &link.mailed_to));
            (cookie, page).into_response()
        }
        None => invalid_link(StatusCode::BAD_REQUEST),
    })
}

fn page(identity: &Identity, form: FormState<'_>, token: &Secret, email: &str) -> Response {
    pages::reset(&pages::ResetPage {
        form,
        token: token.expose(),
        email,
        min_length: identity.passwords.min_length() as u64,
    })
}

/// Returns the page for a link whose token is missing or invalid.
fn invalid_link(status: StatusCode) -> Response {
    pages::error(status, &text::of("invalid-reset-link"), paths::FORGOT)
}

/// Submit the form to reset the password
///
/// Ends all sessions of the user, and starts none. The page leads to the sign-in page, within the
/// authorization flow that was interrupted in this browser, if there is one.
#[utoipa::path(
    post, path = paths::RESET, operation_id = "submitReset", tag = "Pages", security(()),
    request_body(content = ResetForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The password was changed.", body = String, content_type = "text/html"),
        FormErrors, ResetErrors,
    )
)]
pub(crate) async fn submit(
    State(app): State<App>,
    Context(context): Context,
    headers: HeaderMap,
    renderer: FormRenderer,
    PageForm(fields): PageForm<ResetForm>,
) -> Result<Response, Error> {
    let token = Secret::new(fields.token.as_str());
    if let Err(error) = reset(&app.identity, &token, &fields, &context).await {
        let link = password_resets::find(&app.identity, &token, context.now).await?;
        let Some(link) = link else {
            return Ok(invalid_link(StatusCode::UNPROCESSABLE_ENTITY));
        };
        let email = &link.mailed_to;
        return Ok(renderer.show_again(error, |form| page(&app.identity, form, &token, email)));
    }
    let flow = flow::interrupted(&app, &headers, context.now).await;
    let done = pages::notify(&text::of("reset-done"), &paths::sign_in(flow.as_deref()));
    Ok(mailed_link::finish(&app, paths::RESET, &headers, done, context.now).await)
}

async fn reset(
    identity: &Identity,
    token: &Secret,
    fields: &ResetForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let password = identity.passwords.parse_new(&fields.new_password)?;
    Ok(password_resets::confirm(identity, token, password, context).await?)
}

impl From<password_resets::Error> for FormError {
    fn from(error: password_resets::Error) -> Self {
        match error {
            password_resets::Error::TokenInvalid => {
                Self::Final(invalid_link(StatusCode::UNPROCESSABLE_ENTITY))
            }
            password_resets::Error::Flawed(flaw) => flaw.into(),
            password_resets::Error::Passwords(error) => error.into(),
            password_resets::Error::Database(error) => Error::from(error).into(),
        }
    }
}
