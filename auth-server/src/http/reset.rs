//! `GET` and `POST /reset`: the page behind the link of a password reset.

use super::browser;
use super::documentation::{FormErrors, LinkErrors, ResetErrors};
use super::extract::{PageForm, PageQuery};
use super::flow;
use super::form_page::{FormError, FormRenderer};
use super::forms::{LinkQuery, ResetForm};
use super::paths;
use crate::app::App;
use crate::pages::{self, FormState, text};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
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
pub(crate) async fn show(
    State(identity): State<Identity>,
    PageQuery(query): PageQuery<LinkQuery>,
    renderer: FormRenderer,
) -> Response {
    match query.token.as_str() {
        "" => invalid_link(StatusCode::BAD_REQUEST),
        token => renderer.show(|form| page(&identity, form, token)),
    }
}

fn page(identity: &Identity, form: FormState<'_>, token: &str) -> Response {
    pages::reset(&pages::ResetPage {
        form,
        token,
        min_length: identity.passwords.min_length() as u64,
    })
}

/// Returns the page for a link whose token is missing or invalid.
pub(super) fn invalid_link(status: StatusCode) -> Response {
    pages::error_with_link(status, &text::of("invalid-reset-link"), paths::FORGOT)
}

/// Submit the form to reset the password
///
/// Ends all sessions of the user, and starts none. The page leads to the sign-in page, within the authorization flow that was interrupted
/// in this browser, if there is one.
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
) -> Response {
    let token = fields.token.as_str();
    if let Err(error) = reset(&app.identity, &fields, &context).await {
        return renderer.show_again(error, |form| page(&app.identity, form, token));
    }
    let flow = flow::interrupted(&app, &headers, context.now).await;
    let mut done = pages::notify_with_link(&text::of("reset-done"), &paths::sign_in(flow.as_deref()));
    let removal = flow::interrupted_cookie(None, paths::RESET);
    done.headers_mut().append(header::SET_COOKIE, removal);
    if let Some(removal) = browser::removal_of_ended(&app.identity, &headers, context.now).await {
        done.headers_mut().append(header::SET_COOKIE, removal);
    }
    done
}

async fn reset(identity: &Identity, fields: &ResetForm, context: &RequestContext) -> Result<(), FormError> {
    let password = identity.passwords.parse_new(&fields.new_password)?;
    let token = Secret::new(fields.token.as_str());
    Ok(password_resets::confirm(identity, &token, password, context).await?)
}
