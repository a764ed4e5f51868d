//! The page of the signing keys. It has the path of the operation that lists them.

use super::{of_administrator, require_administrator};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{AdministratorErrors, FormErrors, KeyErrors, OtherUserErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountForm, AccountQuery, KeyForm};
use crate::http::paths;
use crate::http::reauthentication::require_recent_sign_in;
use crate::http::redirects::see_other;
use crate::pages::{self, FormState};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::context::RequestContext;
use identity::sessions::Session;
use issuer::keys::list::{self, ListQuery};
use issuer::keys::{self, Key, KeyChange};
use storage::db;
use storage::paging::{Direction, HasCursor as _, Page};
use web::Context;

/// A page of the keys.
struct Overview {
    page: Page<Key>,
    query: ListQuery,
}

impl Overview {
    async fn read(app: &App, query: ListQuery) -> Result<Self, db::Error> {
        let page = list::page(&app.identity.db, &query).await?;
        Ok(Self { page, query })
    }

    fn page(&self, app: &App, form: FormState<'_>, session: &Session, context: &RequestContext) -> Response {
        let path = |cursor, direction| {
            let query = self.query.page.query_string(Some(&cursor), direction);
            format!("{}?{query}", paths::ADMIN_KEYS)
        };
        let newer = self.page.items.first().filter(|_| !self.page.is_first);
        pages::signing_keys(&pages::SigningKeysPage {
            form,
            keys: &self.page.items,
            lives: &app.keys.lives(&self.page.items, context.now),
            has_newest: self.page.is_first,
            newer: newer.map(|key| path(key.cursor(), Direction::Prev)),
            older: self.page.next().map(|cursor| path(cursor, Direction::Next)),
            sign_in: match session.has_recent_sign_in(context.now) {
                true => None,
                false => Some(paths::sign_in(Some(paths::ADMIN_KEYS))),
            },
            max_age: app.keys.max_age,
            url: &app.policy.url(paths::ADMIN_KEYS),
            now: context.now,
        })
    }
}

/// Shows the page. Its address is that of the operation that lists the keys, in whose description it is.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let session = require_administrator(session, paths::ADMIN_KEYS, query.signed_in.is_some())?;
    let list = ListQuery::parse(list.as_deref().unwrap_or_default());
    let overview = Overview::read(&app, list).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| overview.page(&app, form, &session, &context)))
}

/// Rotate the signing keys by a form
///
/// Has the effect of the operation `rotateSigningKeys`. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_KEYS_ROTATE, operation_id = "rotateSigningKeysByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = AccountForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the keys or to the sign-in page.", headers(("Location"))),
        FormErrors, AdministratorErrors, KeyErrors, OtherUserErrors,
    )
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, _): SessionForm<AccountForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_administrator(session, &context)?;
    let changed = app.keys.rotate(&of_administrator(&context, &session)).await;
    after_change(changed, &app, renderer, &session, &context).await
}

/// Retire a signing key as compromised by a form
///
/// Has the effect of the operation `retireSigningKey` for a compromised key. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_KEYS_RETIRE, operation_id = "retireSigningKeyByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = KeyForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the keys or to the sign-in page.", headers(("Location"))),
        FormErrors, AdministratorErrors, KeyErrors, OtherUserErrors,
    )
)]
pub(crate) async fn retire(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<KeyForm>,
) -> Result<Response, FlowError> {
    let session = require_recent_administrator(session, &context)?;
    let administrator = of_administrator(&context, &session);
    let changed = app.keys.discard(&fields.kid, &administrator).await;
    after_change(changed, &app, renderer, &session, &context).await
}

fn require_recent_administrator(
    session: Option<Session>,
    context: &RequestContext,
) -> Result<Session, FlowError> {
    let session = require_administrator(session, paths::ADMIN_KEYS, false)?;
    require_recent_sign_in(Some(session), paths::ADMIN_KEYS, false, context)
}

/// Returns the response to a change: a redirect to the page, or the page again if the change failed.
async fn after_change(
    changed: Result<KeyChange, keys::Error>,
    app: &App,
    renderer: FormRenderer,
    session: &Session,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let error = match changed.map_err(FormError::from) {
        Ok(_) => return Ok(see_other(paths::ADMIN_KEYS)),
        Err(FormError::Final(response)) => return Ok(response),
        Err(error) => error,
    };
    let overview = Overview::read(app, ListQuery::parse("")).await?;
    let renderer = renderer.for_user(session);
    Ok(renderer.show_again(error, |form| overview.page(app, form, session, context)))
}
