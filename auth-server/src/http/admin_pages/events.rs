//! The page of the security events. It has the path of the operation that lists them.

use super::{require_administrator, with_ids};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::AccountQuery;
use crate::pages;
use crate::paths;
use audit::events::list::{self, ListQuery, Tail};
use audit::events::refusals;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::list_query::{Direction, Order, Query};
use identity::event_subjects::EventSubjects;
use web::{Context, Links};

/// Shows the page. The operation `listSecurityEvents` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_EVENTS, list.as_deref());
    require_administrator(session, &here, query.signed_in.is_some())?;
    let parameters = list.as_deref().unwrap_or_default();
    let list = with_ids(&app, parameters, &["user_id", "administrator_id"]).await?;
    let list = ListQuery::parse(&list);
    let (db, origin) = (&app.identity.db, app.policy.url(""));
    let list_path = list.page.url(paths::ADMIN_EVENTS, None, Direction::Next);
    if groups_refusals(parameters) {
        let filter = refusals::filter(&list.filter, context.now);
        let refusals = refusals::read(db, &filter).await?;
        return Ok(pages::security_events(&pages::SecurityEventsPage {
            events: &refusals.groups,
            refusals: Some(&refusals),
            subjects: &EventSubjects::read(db, &refusals.groups).await?,
            filter: &filter,
            refused: &list.refused,
            order: list.order(),
            links: Links {
                next: None,
                prev: None,
            },
            origin: &origin,
            list_path: &list_path,
            live: None,
            now: context.now,
        }));
    }
    // Before the list, so that no event is recorded between the two.
    let tail = Tail::of_new(db).await?;
    let page = list::page(db, &list).await?;
    let has_newest = page.is_first && list.order() == Order::Descending;
    Ok(pages::security_events(&pages::SecurityEventsPage {
        events: &page.items,
        refusals: None,
        subjects: &EventSubjects::read(db, &page.items).await?,
        filter: &list.filter,
        refused: &list.refused,
        order: list.order(),
        links: Links::of(&page, &list.page, paths::ADMIN_EVENTS),
        origin: &origin,
        list_path: &list_path,
        live: has_newest.then(|| {
            let stream = list.page.url(paths::ADMIN_EVENTS_STREAM, None, Direction::Next);
            pages::LiveEvents::new(&stream, &tail)
        }),
        now: context.now,
    }))
}

/// Returns whether the page shows the refusals in groups.
fn groups_refusals(query: &str) -> bool {
    let (parameter, refusals) = pages::REFUSALS_VIEW;
    let is_chosen = |view: &str| (view == refusals).then_some(());
    Query::read(query).first(parameter, is_chosen).is_some()
}
