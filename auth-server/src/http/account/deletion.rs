//! `GET` and `POST /account/deletion`: delete the account.

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
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use foundation::context::RequestContext;
use identity::Identity;
use identity::accounts::Error;
use identity::grants::consents;
use identity::sessions::{self, Session};
use identity::users::account::{self, Account};
use resources::accounts::{self, Content};
use web::{Context, cookies};

/// The account with the numbers of the things that end with it, and of those that stay.
struct Effect {
    account: Account,
    sessions: usize,
    apps: usize,
    content: Content,
}

impl Effect {
    /// Reads the account and counts its sessions, apps and content. If the account was disabled or deleted meanwhile, fails with a redirect
    /// to the sign-in page that removes the session cookie.
    async fn count(
        identity: &Identity,
        session: &Session,
        context: &RequestContext,
    ) -> Result<Self, FlowError> {
        let (db, user_id) = (&identity.db, session.user.id);
        let Some(account) = account::find_enabled(db, user_id).await? else {
            let gone = (without_session(), see_other(paths::SIGN_IN)).into_response();
            return Err(FlowError::Response(gone));
        };
        let sessions = sessions::list(db, session, identity.session_lifetimes, context.now).await?;
        Ok(Self {
            account,
            sessions: sessions.len(),
            apps: consents::list(db, user_id).await?.len(),
            content: accounts::content(db, user_id).await?,
        })
    }

    fn page(&self, form: FormState<'_>) -> Response {
        pages::deletion(&DeletionPage {
            form,
            email: &self.account.user.email,
            asks_code: self.account.mfa_enabled,
            sessions: self.sessions as u64,
            apps: self.apps as u64,
            content: self.content,
        })
    }
}

/// Show the page that deletes the account
///
/// It names the numbers of sessions, apps and drafts that end, and of posts, comments and payments that stay.
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
    let error = match delete(&identity, &session, &fields, &context).await {
        Ok(()) => {
            let page = pages::notify_with_link(&text::of("account-deleted"), paths::SIGN_IN);
            return Ok((without_session(), page).into_response());
        }
        // Counting would be wasted, and a failure of it would hide this one.
        Err(FormError::Final(response)) => return Ok(response),
        Err(error) => error,
    };
    let effect = Effect::count(&identity, &session, &context).await?;
    Ok(renderer.show_again(error, |form| effect.page(form)))
}

/// Returns the `Set-Cookie` header that removes the session cookie.
fn without_session() -> AppendHeaders<[(HeaderName, HeaderValue); 1]> {
    AppendHeaders([(header::SET_COOKIE, cookies::clear_sid())])
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
