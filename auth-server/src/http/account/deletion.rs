//! `GET` and `POST /account/deletion`: delete the account.

use crate::http::browser::BrowserSession;
use crate::http::documentation::{DeletionErrors, FormErrors, SessionErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountForm, AccountQuery};
use crate::http::reauthentication;
use crate::http::reauthentication::require_recent_sign_in;
use crate::pages::{self, DeletionPage, FormState, text};
use crate::paths;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use identity::Identity;
use identity::accounts::Error;
use identity::consents;
use identity::sessions::{self, Session};
use resources::accounts::{self, COUNTED, Content};
use storage::db;
use web::{Context, cookies};

/// The numbers of the things that end with the account, and of those that stay.
struct Effect {
    sessions: usize,
    apps: u64,
    content: Content,
}

impl Effect {
    async fn count(
        identity: &Identity,
        session: &Session,
        context: &RequestContext,
    ) -> Result<Self, db::Error> {
        let (db, user_id) = (&identity.db, session.user.id);
        let sessions = sessions::list(identity, user_id, session, context.now).await?;
        Ok(Self {
            sessions: sessions.len(),
            apps: consents::count(db, user_id, COUNTED + 1).await?,
            content: accounts::content(db, user_id).await?,
        })
    }

    fn page(&self, form: FormState<'_>, session: &Session) -> Response {
        pages::deletion(&DeletionPage {
            form,
            email: &session.user.email,
            sessions: self.sessions as u64,
            apps: self.apps,
            content: self.content,
        })
    }
}

/// Show the page that deletes the account
///
/// It names the numbers of sessions, apps and drafts that end, and of posts, comments and payments that stay.
/// Requires a sign-in within the last ten minutes.
#[utoipa::path(
    get, path = paths::ACCOUNT_DELETION, operation_id = "showDeletion", tag = "Pages", params(AccountQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The form.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(identity): State<Identity>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_recent_sign_in(session, paths::ACCOUNT_DELETION, just_signed_in, &context)?;
    let effect = Effect::count(&identity, &session, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| effect.page(form, &session)))
}

/// Delete the account by a form
///
/// Has the effect of the operation `deleteAccount` of the API. Requires a sign-in within the last ten
/// minutes, and no password.
#[utoipa::path(
    post, path = paths::ACCOUNT_DELETION, operation_id = "deleteAccountByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The account is deleted.", body = String, content_type = "text/html",
         headers(("Set-Cookie"))),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, DeletionErrors,
    )
)]
pub(crate) async fn submit(
    State(identity): State<Identity>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_sign_in(session, paths::ACCOUNT_DELETION, false, &context)?;
    let error = match delete(&identity, &session, &context).await {
        Ok(()) => {
            let page = pages::notify(&text::of("account-deleted"), paths::SIGN_IN);
            return Ok((cookies::header_of(cookies::clear_sid()), page).into_response());
        }
        // Counting would be wasted, and a failure of it would hide this one.
        Err(FormError::Final(response)) => return Ok(response),
        Err(error) => error,
    };
    let effect = Effect::count(&identity, &session, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show_again(error, |form| effect.page(form, &session)))
}

async fn delete(identity: &Identity, session: &Session, context: &RequestContext) -> Result<(), FormError> {
    let deleted = accounts::delete(identity, session, None, context).await;
    deleted.map_err(|error| match error {
        Error::Credentials(error) => reauthentication::error(error, paths::ACCOUNT_DELETION),
        Error::LastAdministrator => {
            FormError::new(StatusCode::CONFLICT, &text::of("deletion-last-administrator"))
        }
        error => web::Error::from(error).into(),
    })
}
