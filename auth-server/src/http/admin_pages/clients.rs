//! The pages of the apps. They have the paths of the operations that list the clients and read one.

use super::{clock_differs, require_administrator, require_recent_administrator, sign_in_before_change};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{ClientChangeErrors, FormErrors};
use crate::http::extract::{PageQuery, SessionForm};
use crate::http::flow::FlowError;
use crate::http::form_page::{FormError, FormRenderer};
use crate::http::forms::{AccountQuery, ClientChangeForm, OverviewQuery};
use crate::http::redirects::see_other_after;
use crate::pages::{self, ClientChange, ClientPage, ClientsPage, Done, FormState};
use crate::paths;
use audit::events::list::{Filter, SecurityEvent, changes, newest};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::cursor::Cursor;
use foundation::ids::TextId;
use foundation::list_query::Direction;
use foundation::secret::Secret;
use identity::clients::list::{self, ListQuery};
use identity::clients::{self, Client};
use identity::consents::list::{self as consents, Consent};
use identity::refresh_families::{FamilyCount, count_of_client};
use identity::sessions::Session;
use identity::users;
use issuer::clients::{DEFAULT_OVERLAP, Error, disable, enable, rotate_secret};
use std::collections::HashMap;
use storage::paging::Page;
use web::{Context, Links, PathId};

/// The number of events on the page of an app.
const EVENTS: usize = 10;

/// Shows the page of all apps. The operation `listClients` has the same address, and describes the page.
pub(crate) async fn show_all(
    State(app): State<App>,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_CLIENTS, list.as_deref());
    require_administrator(session, &here, query.signed_in.is_some())?;
    let list = ListQuery::parse(list.as_deref().unwrap_or_default());
    let page = list::page(&app.identity.db, &list).await?;
    Ok(pages::clients(&ClientsPage {
        clients: &page.items,
        query: &list,
        links: Links::of(&page, &list.page, paths::ADMIN_CLIENTS),
        list_url: &list
            .page
            .url(&app.policy.url(paths::ADMIN_CLIENTS), None, Direction::Next),
    }))
}

/// An app, and all that belongs to it.
struct Overview {
    client: Client,
    consents: Page<Consent>,
    families: FamilyCount,
    changes: Page<SecurityEvent>,
    events: Vec<SecurityEvent>,
    emails: HashMap<i64, String>,
}

impl Overview {
    /// Reads the data of the page, with the changes before this position or the newest ones. Fails with 404 if
    /// no client has the id.
    async fn read(
        app: &App,
        id: &str,
        changes_before: Option<Cursor>,
        now: Timestamp,
    ) -> Result<Self, FlowError> {
        let db = &app.identity.db;
        let client = clients::find(db, id).await?.ok_or_else(web::Error::not_found)?;
        let query = paths::with_query("", &[("client_id", id)]);
        let of_client = consents::ListQuery::parse(query.trim_start_matches('?'));
        let events = Filter {
            client_id: Some(id.to_owned()),
            ..Filter::default()
        };
        let events = newest(db, &events, None, EVENTS).await?;
        let changes = changes::of_client(db, id, changes_before).await?;
        let persons = SecurityEvent::persons(&[&events[..], &changes.items].concat());
        Ok(Self {
            families: count_of_client(db, id, client.epoch, now).await?,
            client,
            consents: consents::page(db, &of_client).await?,
            emails: users::emails(db, &persons).await?,
            changes,
            events,
        })
    }

    fn page(&self, app: &App, form: FormState<'_>, session: &Session, context: &RequestContext) -> Response {
        let path = paths::of_client(&self.client.id);
        pages::client(&ClientPage {
            form,
            client: &self.client,
            consents: &self.consents,
            families: self.families,
            changes: &self.changes,
            events: &self.events,
            emails: &self.emails,
            sign_in: sign_in_before_change(session, paths::page_after_sign_in_or_list(&path), context.now),
            clock_differs: context.clock.differs(),
            url: &app.policy.url(&path),
            path: &path,
            now: context.now,
        })
    }
}

/// Shows the page of one app. The operation `readClient` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    id: PathId<TextId>,
    PageQuery(query): PageQuery<OverviewQuery>,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let id = id.or_not_found()?;
    let path = paths::of_client(id.as_ref());
    let session = require_administrator(
        session,
        paths::page_after_sign_in_or_list(&path),
        query.signed_in.is_some(),
    )?;
    let before = query.changes_before();
    let overview = Overview::read(&app, id.as_ref(), before, context.now).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| overview.page(&app, form, &session, &context)))
}

/// Change an app by a form
///
/// Has the effect of one of the operations that disable or enable a client or rotate its secret. A new secret
/// is shown once. Requires a sign-in within the last ten minutes.
#[utoipa::path(
    post, path = paths::ADMIN_CLIENT_CHANGES, operation_id = "changeClientByForm", tag = "Pages",
    params(("id" = String, Path, description = "The `client_id`.")),
    security((), ("session" = [])),
    request_body(content = ClientChangeForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The page with the new secret.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the page of the app or to the sign-in page.", headers(("Location"))),
        FormErrors, ClientChangeErrors,
    )
)]
pub(crate) async fn change(
    State(app): State<App>,
    Context(context): Context,
    id: PathId<TextId>,
    renderer: FormRenderer,
    SessionForm(session, fields): SessionForm<ClientChangeForm>,
) -> Result<Response, FlowError> {
    let id = id.or_not_found()?;
    let path = paths::of_client(id.as_ref());
    let page = paths::page_after_sign_in_or_list(&path);
    let (session, administrator) = require_recent_administrator(session, page, &context)?;
    let error = match apply(&app, id.as_ref(), &fields, &administrator).await {
        Ok(None) => return Ok(see_other_after(Done::AppChanged, &path)),
        Ok(Some(secret)) => return Ok(pages::client_secret(id.as_ref(), &secret, &path)),
        Err(FormError::Final(response)) => return Ok(response),
        Err(error) => error,
    };
    let overview = Overview::read(&app, id.as_ref(), None, context.now).await?;
    let renderer = renderer.for_user(&session);
    Ok(renderer.show_again(error, |form| overview.page(&app, form, &session, &context)))
}

/// Makes the change that a form asks for. Returns the new secret, if there is one.
async fn apply(
    app: &App,
    id: &str,
    fields: &ClientChangeForm,
    context: &RequestContext,
) -> Result<Option<Secret>, FormError> {
    let (db, revocations) = (&app.identity.db, &app.identity.revocations);
    let change = ClientChange::named(&fields.change).ok_or_else(|| Error::NotFound(id.to_owned()))?;
    if context.clock.differs() && !change.only_ends_access() {
        return Err(clock_differs());
    }
    match change {
        ClientChange::Disable => drop(disable(db, revocations, id, context).await?),
        ClientChange::Enable => drop(enable(db, id, context).await?),
        ClientChange::RotateSecret => {
            // A form that is sent again would end the secret that the app still uses.
            let client = clients::find(db, id).await.map_err(Error::from)?;
            let newest =
                client.and_then(|client| client.secrets.iter().next().map(|secret| secret.created_at));
            if newest.is_some_and(|newest| newest.to_string() != fields.version) {
                return Err(Error::NotFound(id.to_owned()).into());
            }
            let (_, secret) = rotate_secret(db, id, DEFAULT_OVERLAP, context).await?;
            return Ok(Some(secret));
        }
    }
    Ok(None)
}
