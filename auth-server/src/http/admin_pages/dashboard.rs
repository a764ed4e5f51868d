//! The page of the figures. It has the path of the operation that reads them.

use super::require_administrator;
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::AccountQuery;
use crate::pages;
use crate::paths;
use audit::figures::WindowQuery;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use issuer::figures;
use web::Context;

/// Shows the page. The operation `readFigures` has the same address, and describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<AccountQuery>,
    RawQuery(window): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN, window.as_deref());
    require_administrator(session, &here, query.signed_in.is_some())?;
    let WindowQuery { window } = WindowQuery::parse(window.as_deref().unwrap_or_default());
    let figures = figures::read(&app.identity.db, window, context.now).await?;
    Ok(pages::dashboard(&pages::DashboardPage {
        figures: &figures,
        url: &app.policy.url(paths::ADMIN),
    }))
}
