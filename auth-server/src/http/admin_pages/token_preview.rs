//! The page of the claims that an app would get for a user. It has the path of the operation that returns
//! them.

use super::require_administrator;
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::TokenPreviewQuery;
use crate::pages::{self, TokenPreviewPage};
use crate::paths;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use web::Context;

/// Shows the page: without an app the form alone. The operation `previewTokens` has the same address, and
/// describes the page.
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<TokenPreviewQuery>,
    RawQuery(parameters): RawQuery,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    let here = paths::to_return(paths::ADMIN_TOKEN_PREVIEW, parameters.as_deref());
    require_administrator(session, &here, query.signed_in.is_some())?;
    let request = query.request();
    let preview = match query.client_id.is_empty() {
        true => None,
        false => Some(app.grants.previewer().preview(request, context.now).await?),
    };
    let parameters = [
        ("client_id", request.client_id),
        ("email", request.email),
        ("scope", request.scope),
    ];
    let path = paths::with_query(paths::ADMIN_TOKEN_PREVIEW, &parameters);
    Ok(pages::token_preview(&TokenPreviewPage {
        request,
        preview: preview.as_ref(),
        url: &app.policy.url(&path),
    }))
}
