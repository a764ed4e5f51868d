//! The page of all sessions. It has the path of the operation that lists them.

use super::{require_administrator, sign_in_before_change, with_ids};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::form_page::FormRenderer;
use crate::http::forms::AccountQuery;
use crate::pages::{self, SessionsPage};
use crate::paths;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::list_query::Direction;
use identity::sessions::{self, ListQuery};
use web::{Context, Links};

/// Shows the page. The operation `listUserSessions` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_SESSIONS, list.as_deref());
    let session = require_administrator(session, &here, query.signed_in.is_some())?;
    let list = with_ids(&app, list.as_deref().unwrap_or_default(), &["user_id"]).await?;
    let list = ListQuery::parse(&list);
    let (db, lifetimes) = (&app.identity.db, app.identity.session_lifetimes);
    let page = sessions::page(db, &list, lifetimes, context.now).await?;
    let details = sessions::details(db, &page.items, context.now).await?;
    let url = app.policy.url(paths::ADMIN_SESSIONS);
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| {
        pages::sessions(&SessionsPage {
            form,
            sessions: &page.items,
            details: &details,
            administrator: &session,
            sign_in: sign_in_before_change(&session, &here, context.now),
            query: &list,
            links: Links::of(&page, &list.page, paths::ADMIN_SESSIONS),
            page_path: &list.page.requested_url(paths::ADMIN_SESSIONS),
            list_url: &list.page.url(&url, None, Direction::Next),
            url: &url,
            now: context.now,
        })
    }))
}
