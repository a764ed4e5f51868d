//! The page of all consents. It has the path of the operation that lists them.

use super::{require_administrator, sign_in_before_change, with_ids};
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::form_page::FormRenderer;
use crate::http::forms::AccountQuery;
use crate::pages::{self, ConsentsPage};
use crate::paths;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::list_query::Direction;
use identity::consents::list::{self, ListQuery};
use web::{Context, Links};

/// Shows the page. The operation `listConsents` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(list): RawQuery,
    BrowserSession(session): BrowserSession,
    renderer: FormRenderer,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_CONSENTS, list.as_deref());
    let session = require_administrator(session, &here, query.signed_in.is_some())?;
    let list = with_ids(&app, list.as_deref().unwrap_or_default(), &["user_id"]).await?;
    let list = ListQuery::parse(&list);
    let page = list::page(&app.identity.db, &list).await?;
    let details = list::details(&app.identity.db, &page.items, context.now).await?;
    let url = app.policy.url(paths::ADMIN_CONSENTS);
    let renderer = renderer.for_user(&session);
    Ok(renderer.show(|form| {
        pages::consents(&ConsentsPage {
            form,
            consents: &page.items,
            details: &details,
            administrator: session.user.id,
            sign_in: sign_in_before_change(&session, &here, context.now),
            query: &list,
            links: Links::of(&page, &list.page, paths::ADMIN_CONSENTS),
            page_path: &list.page.requested_url(paths::ADMIN_CONSENTS),
            list_url: &list.page.url(&url, None, Direction::Next),
            url: &url,
            now: context.now,
        })
    }))
}
