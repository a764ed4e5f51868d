//! The pages of the users. They have the paths of the operations that list the users and read one.

use super::{clock_differs, require_administrator, require_recent_administrator, sign_in_before_change};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{FormErrors, UserChangeErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountQuery, OverviewQuery, UserChangeForm};
use crate::http::overview::read_overview;
use crate::http::redirects::see_other_after;
use crate::pages::{self, Done, FormState, Overview, Parts, UserChange, UserPage, UsersPage};
use crate::paths;
use audit::events::list::{Filter, SecurityEvent, changes, newest};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::cursor::Cursor;
use foundation::ids::Id;
use foundation::list_query::Direction;
use foundation::secret::Secret;
use identity::Identity;
use identity::accounts::Error;
use identity::accounts::administration::{self, find_to_change};
use identity::lockout;
use identity::refresh_families::count_of_user;
use identity::sessions::Session;
use identity::users::list::{self, ListQuery};
use identity::users::{self, account};
use web::{Context, Links, PathId};

/// The number of events on the page of a user.
const EVENTS: usize = 10;

/// Shows the page of all users. The operation `listAccounts` has the same address, and describes the page.
pub(crate) async fn show_all(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_USERS, list.as_deref());
    require_administrator(session, &here, query.signed_in.is_some())?;
    let list = ListQuery::parse(list.as_deref().unwrap_or_default());
    let page = list::page(&app.identity.db, &list).await?;
    Ok(pages::users(&UsersPage {
        accounts: &page.items,
        query: &list,
        links: Links::of(&page, &list.page, paths::ADMIN_USERS),
        list_url: &list
            .page
            .url(&app.policy.url(paths::ADMIN_USERS), None, Direction::Next),
        now: context.now,
    }))
}

/// Reads a user, for the administrator with this session, with the newest changes or those before a position.
/// Fails if there is no account with this id.
async fn read(
    identity: &Identity,
    id: i64,
    session: &Session,
    changes_before: Option<Cursor>,
    context: &RequestContext,
) -> Result<Overview, FlowError> {
    let account = account::find(&identity.db, id)
        .await?
        .ok_or_else(web::Error::not_found)?;
    let of_user = Filter {
        user_id: Some(id),
        ..Filter::default()
    };
    let events = newest(&identity.db, &of_user, None, EVENTS).await?;
    let mut overview = read_overview(account, events, identity, session, context.now).await?;
    overview.changes = changes::of_user(&identity.db, id, changes_before).await?;
    overview.families = count_of_user(&identity.db, id, context.now).await?;
    overview.blocked_at = lockout::blocked_at(&identity.db, id, context.now).await?;
    let persons = SecurityEvent::persons(&[&overview.events[..], &overview.changes.items].concat());
    overview.emails = users::emails(&identity.db, &persons).await?;
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
    let id = overview.account.user.id;
    let path = paths::of_user(id);
    pages::user(&UserPage {
        form,
        overview,
        parts,
        is_own: session.user.id == id,
        sign_in: sign_in_before_change(session, &path, context.now),
        clock_differs: context.clock.differs(),
        url: &app.policy.url(&path),
        now: context.now,
    })
}

/// Shows the page of one user. The operation `readAccount` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    id: PathId,
    PageQuery(query): PageQuery<OverviewQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let id = id.or_not_found()?.get();
    let session = require_administrator(session, &paths::of_user(id), query.signed_in.is_some())?;
    let before = query.changes_before();
    let overview = read(&app.identity, id, &session, before, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| page(&app, &overview, form, query.parts(), &session, &context)))
}

/// Change a user by a form
///
/// Has the effect of one of the operations that change an account, end a session or revoke a consent. A
/// generated password is shown once; after any other change the list or the page that had the form follows.
/// Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_USER_CHANGES, operation_id = "changeAccountByForm", tag = "Pages",
    params(("id" = inline(Id), Path, description = "The id of the user.")),
    security((), ("session" = [])),
    request_body(content = UserChangeForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page with the generated password.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the page that had the form, or to the sign-in page.", headers(("Location"))),
        FormErrors, UserChangeErrors,
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    Context(context): Context,
    id: PathId,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<UserChangeForm>,
) -> Result<Response, FlowError> {
    let id = id.or_not_found()?.get();
    let path = paths::of_user(id);
    let next = fields.next(&path);
    let page_of_form = paths::with_query_or_alone(&next);
    let (session, administrator) = require_recent_administrator(session, page_of_form, &context)?;
    let changed = apply(&app.identity, id, &fields, &administrator).await;
    let error = match changed {
        Ok(None) => return Ok(see_other_after(Done::AccountChanged, &next)),
        Ok(Some((email, initial))) => {
            return Ok(pages::initial_password(&email, &initial, &path));
        }
        Err(FormError::Final(response)) => return Ok(response),
        Err(error) => error,
    };
    let overview = read(&app.identity, id, &session, None, &context).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show_again(error, |form| {
        page(&app, &overview, form, Parts::FIRST, &session, &context)
    }))
}

/// Makes the change that a form asks for. Returns the address of the account and the initial password, if one
/// was generated.
async fn apply(
    identity: &Identity,
    id: i64,
    fields: &UserChangeForm,
    context: &RequestContext,
) -> Result<Option<(String, Secret)>, FormError> {
    let (db, revocations, mails) = (&identity.db, &identity.revocations, &identity.mails);
    let change = UserChange::named(&fields.change).ok_or(Error::NotFound)?;
    if context.clock.differs() && !change.only_ends_access() {
        return Err(clock_differs());
    }
    let account = find_to_change(db, id, context).await?;
    match change {
        UserChange::Disable => drop(administration::disable(db, revocations, id, context).await?),
        UserChange::Enable => drop(administration::enable(db, id, context).await?),
        UserChange::SignOut => administration::sign_out(db, revocations, id, context).await?,
        UserChange::Unlock => administration::unlock(db, id, context).await?,
        UserChange::ResetSecondFactor => {
            administration::reset_mfa(db, revocations, mails, &account, context).await?;
        }
        UserChange::Role(role) => {
            drop(administration::set_role(db, revocations, &account, role, context).await?);
        }
        UserChange::SetPassword => {
            // A form that is sent again must not replace the password that the administrator has just been
            // shown.
            if fields.version != account.user.updated_at.to_string() {
                return Err(Error::NotFound.into());
            }
            let (password, secret) = identity.passwords.generate().await?;
            administration::set_password(db, revocations, mails, id, &password, context).await?;
            return Ok(Some((account.user.email, secret)));
        }
        UserChange::EndSession => {
            let session = fields.ended.parse().map(Id::get).map_err(|_| Error::NotFound)?;
            administration::end_session_of(db, revocations, id, session, context).await?;
        }
        UserChange::RevokeConsent => {
            administration::revoke_consent_of(identity, id, &fields.ended, context).await?;
        }
    }
    Ok(None)
}
