//! The page of the signing keys. It has the path of the operation that lists them.

use super::{require_administrator, require_recent_administrator, sign_in_before_change};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{FormErrors, KeyRetirementErrors, KeyRotationErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountQuery, KeyRetirementForm, KeyRotationForm};
use crate::http::redirects::see_other;
use crate::pages::{self, FormState};
use crate::paths;
use audit::figures::live_tokens;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::list_query::{Query, parse_text};
use identity::sessions::Session;
use issuer::keys::list::{self, ListQuery};
use issuer::keys::{self, Key, KeyChange, Outcome, Readiness};
use std::collections::HashMap;
use storage::db;
use storage::paging::Page;
use web::{Context, Links};

/// The keys of the present, those that were deleted last, and a page of all keys.
struct Overview {
    published: Vec<Key>,
    deleted: Vec<Key>,
    readiness: Readiness,
    page: Page<Key>,
    live_tokens: HashMap<String, u64>,
    query: ListQuery,
}

impl Overview {
    async fn read(app: &App, query: ListQuery, now: Timestamp) -> Result<Self, db::Error> {
        let published = app.keys.published().await?;
        Ok(Self {
            readiness: keys::readiness(&app.keys.db, &published, now).await?,
            published,
            deleted: list::newest_deleted(&app.identity.db).await?,
            page: list::page(&app.identity.db, &query).await?,
            live_tokens: live_tokens::read(&app.keys.db, now).await?,
            query,
        })
    }

    fn page(&self, app: &App, form: FormState<'_>, session: &Session, context: &RequestContext) -> Response {
        let here = self.query.page.requested_url(paths::ADMIN_KEYS);
        let here = paths::with_query_or_alone(&here);
        let lives = |keys| app.keys.lives(keys, &self.published, context.now);
        pages::signing_keys(&pages::SigningKeysPage {
            form,
            published: pages::Keys::new(&self.published, lives(&self.published)),
            deleted: pages::Keys::new(&self.deleted, lives(&self.deleted)),
            listed: pages::Keys::new(&self.page.items, lives(&self.page.items)),
            query: &self.query,
            live_tokens: &self.live_tokens,
            readiness: &self.readiness,
            links: Links::of(&self.page, &self.query.page, paths::ADMIN_KEYS),
            sign_in: sign_in_before_change(session, here, context.now),
            clock_differs: context.clock.differs(),
            max_age: app.keys.max_age,
            lifetime: app.keys.lifetime,
            url: &app.policy.url(paths::ADMIN_KEYS),
            jwks_url: &format!("{}{}", app.grants.issuer, paths::JWKS),
            now: context.now,
        })
    }
}

/// Shows the page. The operation `listSigningKeys` has the same address, and describes the page. With `kid`
/// the list begins with this key.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_KEYS, list.as_deref());
    let session = require_administrator(session, &here, query.signed_in.is_some())?;
    let parameters = list.as_deref().unwrap_or_default();
    let list = match Query::read(parameters).first("kid", parse_text) {
        Some(kid) => list::query_from(&app.identity.db, &kid).await?,
        None => ListQuery::parse(parameters),
    };
    let overview = Overview::read(&app, list, context.now).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| overview.page(&app, form, &session, &context)))
}

/// Rotate the signing keys by a form
///
/// Has the effect of the operation `rotateSigningKeys`, if the staged key is still that which the page
/// showed, and if every verifier has it or exactly those lack it that the form confirms. Requires a sign-in
/// within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_KEYS_ROTATE, operation_id = "rotateSigningKeysByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = KeyRotationForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the keys or to the sign-in page.", headers(("Location"))),
        FormErrors, KeyRotationErrors,
    )
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<KeyRotationForm>,
) -> Result<Response, FlowError> {
    let (session, administrator) = require_recent_administrator(session, paths::ADMIN_KEYS, &context)?;
    let published = app.keys.published().await?;
    let changed = match keys::in_state(&published, keys::State::Staged) {
        Some(staged) if staged.kid == fields.staged => {
            let readiness = keys::readiness(&app.keys.db, &published, context.now).await?;
            let is_confirmed = fields.despite_unready == readiness.unready_hash();
            match readiness.require_all() {
                // A key that may not sign yet is refused for that reason.
                Err(unready) if !is_confirmed && staged.sign_after <= context.now => Err(unready),
                _ => app.keys.rotate(&administrator).await,
            }
        }
        _ => Err(keys::Error::Contended),
    };
    after_change(changed, &app, renderer, &session, &context).await
}

/// Retire a signing key as compromised by a form
///
/// Has the effect of the operation `retireSigningKey` for a compromised key, if the key is still in the state
/// that the page showed. The response waits up to two seconds until the API refuses its tokens everywhere, so
/// that the page tells of it. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_KEYS_RETIRE, operation_id = "retireSigningKeyByForm", tag = "Pages",
    security((), ("session" = [])),
    request_body(content = KeyRetirementForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 303, description = "Redirect to the page of the keys or to the sign-in page.", headers(("Location"))),
        FormErrors, KeyRetirementErrors,
    )
)]
pub(crate) async fn retire(
    State(app): State<App>,
    Context(context): Context,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<KeyRetirementForm>,
) -> Result<Response, FlowError> {
    let (session, administrator) = require_recent_administrator(session, paths::ADMIN_KEYS, &context)?;
    let changed = match keys::State::named(&fields.state) {
        Some(state) => app.keys.discard(&fields.kid, Some(state), &administrator).await,
        None => Err(keys::Error::Contended),
    };
    if changed.is_ok() {
        keys::wait_until_dropped(&app.keys.db, &fields.kid).await;
    }
    after_change(changed, &app, renderer, &session, &context).await
}

/// Returns the response to a change: a redirect to the page, or the page again if the change failed.
async fn after_change(
    changed: Result<KeyChange, keys::Error>,
    app: &App,
    renderer: FormRenderer,
    session: &Session,
    context: &RequestContext,
) -> Result<Response, FlowError> {
    let error = match changed {
        Ok(change) if change.outcome == Outcome::Overtaken => FormError::from(keys::Error::Contended),
        Ok(_) => return Ok(see_other(paths::ADMIN_KEYS)),
        Err(error) => error.into(),
    };
    if let FormError::Final(response) = error {
        return Ok(response);
    }
    let overview = Overview::read(app, ListQuery::parse(""), context.now).await?;
    let renderer = renderer.for_user(session);
    Ok(renderer.show_again(error, |form| overview.page(app, form, session, context)))
}
