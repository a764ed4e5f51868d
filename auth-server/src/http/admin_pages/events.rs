//! The page of the security events. It has the path of the operation that lists them.

use super::require_administrator;
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::AccountQuery;
use crate::pages;
use crate::paths;
use audit::events::list::{self, ListQuery};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::email::Email;
use foundation::list_query::{Direction, Order};
use identity::users::account;
use storage::db;
use web::{Context, Links};

/// Shows the page. The operation `listSecurityEvents` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    require_administrator(session, paths::ADMIN_EVENTS, query.signed_in.is_some())?;
    let list = list.as_deref().unwrap_or_default();
    let list = ListQuery::parse(&with_ids(&app, list).await?);
    // Before the list, so that no event is recorded between the two.
    let newest = list::newest_id(&app.identity.db).await?;
    let page = list::page(&app.identity.db, &list).await?;
    let has_newest = page.is_first && list.page.order != Some(Order::Ascending);
    Ok(pages::security_events(&pages::SecurityEventsPage {
        events: &page.items,
        filter: &list.filter,
        refused: &list.refused,
        links: Links::of(&page, &list.page, paths::ADMIN_EVENTS),
        list_url: &list
            .page
            .url(&app.policy.url(paths::ADMIN_EVENTS), None, Direction::Next),
        live_path: has_newest.then(|| {
            let condition = list.page.query_string(None, Direction::Next);
            format!("{}?after={newest}&{condition}", paths::ADMIN_EVENTS_STREAM)
        }),
        now: context.now,
    }))
}

/// Returns the query string with the id of the user in place of the e-mail address that an administrator
/// typed. An address that no user has stays, and is no valid id.
async fn with_ids(app: &App, query: &str) -> Result<String, db::Error> {
    let mut parameters: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    for name in ["user_id", "administrator_id"] {
        // As in the list, the first value counts.
        let Some((_, value)) = parameters.iter_mut().find(|(found, _)| found == name) else {
            continue;
        };
        let Ok(email) = Email::parse(value.trim()) else {
            continue;
        };
        if let Some(found) = account::find_by_email(&app.identity.db, &email).await? {
            *value = found.user.id.to_string();
        }
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    Ok(query.extend_pairs(parameters).finish())
}
