//! The page of the security events. It has the path of the operation that lists them.

use super::require_administrator;
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::AccountQuery;
use crate::http::paths;
use crate::pages;
use audit::events::list::{self, ListQuery};
use axum::extract::{RawQuery, State};
use axum::response::Response;
use storage::paging::{Direction, Order};
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
    let list = ListQuery::parse(list.as_deref().unwrap_or_default());
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
