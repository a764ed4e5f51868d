//! `/account`: the pages on which users manage their own account.

pub(crate) mod deletion;
pub(crate) mod email;
pub(crate) mod passkeys;
pub(crate) mod two_step;

use super::browser::BrowserSession;
use super::consent::require_session;
use super::documentation::{AccountErrors, FormErrors, OtherUserErrors, SessionErrors};
use super::extract::{PageQuery, SessionForm};
use super::flow::FlowError;
use super::form_page::FormRenderer;
use super::forms::{AccountForm, AppForm, OverviewQuery, SessionEndForm};
use super::overview::read_overview;
use super::redirects::{see_other, see_other_after};
use crate::app::App;
use crate::pages::{self, Done, FormState, Overview, Parts, text};
use crate::paths;
use audit::events::list::{SecurityEvent, activity};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use foundation::context::RequestContext;
use foundation::ids::Id;
use identity::sessions::{self, Session};
use identity::users::account;
use identity::{Identity, clients, consents, email_verifications};
use resources::export::{self as file, Export};
use revocation::RevokingTx;
use std::cmp::Reverse;
use web::{Context, cookies};

/// Reads the data of the page: the session of the request and then the others, the apps, the most recently
/// used first, and the events as the user may see them, with the names of their apps. If the account was
/// disabled or deleted meanwhile, fails with a redirect to the sign-in page.
async fn read(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<Overview, FlowError> {
    let (db, id) = (&identity.db, session.user.id);
    let own = account::find_own(db, id, context.now).await?;
    let own = own.ok_or_else(|| FlowError::Response(see_other(paths::SIGN_IN)))?;
    let events = activity::of_user(db, id).await?;
    let mut overview = read_overview(own.account, events, identity, session, context.now).await?;
    overview.requested_email = own.requested_email;
    overview.sessions.sort_by_key(|own| !own.current);
    overview.apps.sort_by_key(|app| Reverse(app.access.last_used_at));
    let events = overview.events.into_iter();
    overview.events = events.map(SecurityEvent::for_its_user).collect();
    let clients = SecurityEvent::clients(&overview.events);
    overview.names = clients::names(db, &clients).await?;
    Ok(overview)
}

/// Returns the page with these parts of the sessions and of the apps.
fn page(
    app: &App,
    overview: &Overview,
    form: FormState<'_>,
    parts: Parts,
    session: &Session,
    context: &RequestContext,
) -> Response {
    pages::account(&pages::AccountPage {
        form,
        overview,
        parts,
        has_passkeys: app.relying_party.is_some(),
        has_recent_sign_in: session.has_recent_sign_in(context.now),
        now: context.now,
    })
}

/// Show the account
///
/// The page shows where the user is signed in, the connected apps and the recent events. Of more than 20
/// sessions or apps it shows a part, with links to the others.
#[utoipa::path(
    get, path = paths::ACCOUNT, operation_id = "showAccount", tag = "Pages", params(OverviewQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, or right after sign-in to the same page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<OverviewQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let just_signed_in = query.signed_in.is_some();
    let session = require_session(session, None, just_signed_in)?;
    if just_signed_in {
        // The address must not say so later, when the session has ended.
        return Ok(see_other(paths::ACCOUNT));
    }
    let overview = read(&app.identity, &session, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| page(&app, &overview, form, query.parts(), &session, &context)))
}

/// End a session on the account page
///
/// Ends the session, and the tokens that first-party apps received in it. The account page then shows the
/// same part of the sessions.
#[utoipa::path(
    post, path = paths::ACCOUNT_SESSION_END, operation_id = "endSessionByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = SessionEndForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the account page or to the sign-in page.", headers(("Location"))),
        FormErrors,
    )
)]
pub(crate) async fn end_session(
    State(identity): State<Identity>,
    Context(context): Context,
    SessionForm(session, fields): SessionForm<SessionEndForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    if let Ok(id) = fields.session.parse().map(Id::get) {
        let tx = begin(&identity, &session, &context).await?;
        sessions::revoke_own(tx, &session, id, &context).await?;
        if id == session.id {
            let cookie = cookies::header_of(cookies::clear_sid());
            return Ok((cookie, see_other(paths::SIGN_IN)).into_response());
        }
    }
    // A session that had ended before is not in the list any more.
    let page = fields.parts().of_page(paths::ACCOUNT);
    Ok(see_other_after(Done::SessionEnded, &page))
}

/// End all other sessions on the account page
///
/// Ends every session of the user but this one, and the tokens that first-party apps received in them.
#[utoipa::path(
    post, path = paths::ACCOUNT_SESSIONS_END_OTHERS, operation_id = "endOtherSessionsByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the account page or to the sign-in page.", headers(("Location"))),
        FormErrors, OtherUserErrors,
    )
)]
pub(crate) async fn end_other_sessions(
    State(identity): State<Identity>,
    Context(context): Context,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let tx = begin(&identity, &session, &context).await?;
    sessions::revoke_others(tx, &session, &context).await?;
    Ok(see_other_after(Done::OtherSessionsEnded, paths::ACCOUNT))
}

/// Disconnect an app on the account page
///
/// Withdraws the consent and revokes the app's tokens at once. The account page then shows the same part of
/// the apps.
#[utoipa::path(
    post, path = paths::ACCOUNT_APP_DISCONNECT, operation_id = "withdrawGrantByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AppForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the account page or to the sign-in page.", headers(("Location"))),
        FormErrors, OtherUserErrors,
    )
)]
pub(crate) async fn disconnect_app(
    State(identity): State<Identity>,
    Context(context): Context,
    SessionForm(session, fields): SessionForm<AppForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let tx = begin(&identity, &session, &context).await?;
    consents::revoke(tx, &identity.events, session.user.id, &fields.app, &context).await?;
    let page = fields.parts().of_page(paths::ACCOUNT);
    Ok(see_other_after(Done::AppDisconnected, &page))
}

/// Download the account
///
/// The file is that of the operation `exportAccount` of the API: all data that is stored about the user.
#[utoipa::path(
    get, path = paths::ACCOUNT_EXPORT, operation_id = "exportAccountByPage", tag = "Pages",
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The file.", body = Export, headers(("Content-Disposition"), ("Cache-Control"))),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        SessionErrors,
    )
)]
pub(crate) async fn export(
    State(identity): State<Identity>,
    Context(context): Context,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let name = file::content_disposition(&session);
    let pieces = file::stream(identity, session, context.now).await;
    let pieces = pieces.map_err(|error| match error {
        file::Error::Database(error) => FlowError::Database(error),
        error => web::Error::internal(&error).into(),
    })?;
    Ok(web::json_file(name, pieces))
}

/// Begins the transaction of a change in this session, which cannot end before the transaction does. Fails
/// with a redirect to the sign-in page if the session has ended meanwhile: the user may have ended it because
/// somebody else was using it.
async fn begin(
    identity: &Identity,
    session: &Session,
    context: &RequestContext,
) -> Result<RevokingTx, FlowError> {
    let mut tx = RevokingTx::begin(&identity.db, &identity.revocations).await?;
    match session.authority().lock_session(&mut tx, context.now).await? {
        true => Ok(tx),
        false => Err(FlowError::Response(see_other(paths::SIGN_IN))),
    }
}

/// Request another link that confirms the e-mail address
///
/// The mail goes to the address of the account, if its limit of mails allows.
#[utoipa::path(
    post, path = paths::ACCOUNT_EMAIL_CONFIRMATION, operation_id = "requestEmailVerificationByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The mail is on its way.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page.", headers(("Location"))),
        FormErrors, AccountErrors, OtherUserErrors,
    )
)]
pub(crate) async fn request_confirmation(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_session(session, None, false)?;
    let Err(error) = email_verifications::request(&app.identity, &session, &context).await else {
        let text = text::of("account-link-sent").with("email", &session.user.email);
        return Ok(pages::notify(&text, paths::ACCOUNT));
    };
    let overview = read(&app.identity, &session, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show_again(error.into(), |form| {
        page(&app, &overview, form, Parts::FIRST, &session, &context)
    }))
}
