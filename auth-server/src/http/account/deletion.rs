//! `GET` and `POST /account/deletion`: delete the account.

use super::Overview;
use crate::http::browser::BrowserSession;
use crate::http::consent::require_session;
use crate::http::documentation::{DeletionErrors, FormErrors, ReauthenticationErrors, SessionErrors};
use crate::http::extract::SessionForm;
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::DeletionForm;
use crate::http::redirects::see_other;
use crate::http::{paths, reauthentication};
use crate::pages::{self, DeletionPage, FormState, text};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use foundation::context::RequestContext;
use identity::Identity;
use identity::accounts::Error;
use identity::sessions::Session;
use resources::accounts::{self, Content};
use web::{Context, cookies};

/// The numbers of the things that the deletion ends.
struct Effect {
    account: Overview,
    content: Content,
}

impl Effect {
    /// Counts. Fails with a redirect to the sign-in page if the account was disabled or deleted meanwhile.
    async fn count(
        identity: &Identity,
        session: &Session,
        context: &RequestContext,
    ) -> Result<Self, FlowError> {
        let Some(account) = Overview::read(identity, session, context).await? else {
            return Err(FlowError::Response(see_other(paths::SIGN_IN)));
        };
        let content = accounts::content(&identity.db, session.user.id).await?;
        Ok(Self { account, content })
    }

    fn page(&self, form: FormState<'_>) -> Response {
        let Overview {
            account,
            sessions,
            apps,
            ..
        } = &self.account;
        pages::deletion(&DeletionPage {
            form,
            email: &account.user.email,
            asks_code: account.mfa_enabled,
            sessions: sessions.len() as u64,
            apps: apps.len() as u64,
            content: self.content,
        })
    }
}

/// Show the page that deletes the account
///
/// It names the numbers of sessions and apps that end, and of posts, comments and payments that stay.
#[utoipa::path(
    get, path = paths::ACCOUNT_DELETION, operation_id = "showDeletion", tag = "Pages", security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Not signed in. Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let effect = Effect::count(&identity, &session, &context).await?;
    Ok(renderer.show(|form| effect.page(form)))
}

/// Delete the account by a form
///
/// Has the effect of the operation `deleteAccount` of the API.
#[utoipa::path(
    post, path = paths::ACCOUNT_DELETION, operation_id = "deleteAccountByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = DeletionForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The account is deleted.", body = String, content_type = "text/html",
         headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, ReauthenticationErrors, DeletionErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<DeletionForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let Err(error) = delete(&identity, &session, &fields, &context).await else {
        let cookie = AppendHeaders([(header::SET_COOKIE, cookies::clear_sid())]);
        let page = pages::notify_with_link(&text::of("account-deleted"), paths::SIGN_IN);
        return Ok((cookie, page).into_response());
    };
    let effect = Effect::count(&identity, &session, &context).await?;
    Ok(renderer.show_again(error, |form| effect.page(form)))
}

async fn delete(
    identity: &Identity,
    session: &Session,
    fields: &DeletionForm,
    context: &RequestContext,
) -> Result<(), FormError> {
    let presented = reauthentication::presented(&fields.password, fields.otp.as_deref())?;
    let deleted = accounts::delete(identity, session, &presented, context).await;
    deleted.map_err(|error| match error {
        Error::Credentials(error) => reauthentication::error(error),
        Error::LastAdministrator => {
            FormError::new(StatusCode::CONFLICT, &text::of("deletion-last-administrator"))
        }
        error => web::Error::from(error).into(),
    })
}
