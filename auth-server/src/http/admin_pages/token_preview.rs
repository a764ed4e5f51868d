//! `/admin/token-preview`: the claims that an app would get for a user.

use super::require_administrator;
use crate::app::App;
use crate::http::browser::BrowserSession;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::http::extract::PageQuery;
use crate::http::flow::FlowError;
use crate::http::forms::TokenPreviewQuery;
use crate::pages::text::{self, Text};
use crate::pages::{self, TokenPreviewPage};
use crate::paths;
use axum::extract::State;
use axum::response::Response;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::ids::TextId;
use foundation::scope::Scope;
use identity::clients::{self, Client, ClientType};
use identity::users::account;
use issuer::grants::TokenPreview;
use web::{Context, Error};

/// Show the claims that an app would get for a user
///
/// Without an app the page shows the form alone. Nothing is issued. Only for administrators.
#[utoipa::path(
    get, path = paths::ADMIN_TOKEN_PREVIEW, operation_id = "previewTokens", tag = "Pages", params(TokenPreviewQuery),
    security((), ("session" = [])),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 303, description = "Redirect to the sign-in page, which leads back.", headers(("Location"))),
        SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn show(
    State(app): State<App>,
    Context(context): Context,
    PageQuery(query): PageQuery<TokenPreviewQuery>,
    BrowserSession(session): BrowserSession,
) -> Result<Response, FlowError> {
    require_administrator(session, paths::ADMIN_TOKEN_PREVIEW, query.signed_in.is_some())?;
    let preview = match query.client_id.is_empty() {
        true => None,
        false => Some(preview(&app, &query, &context).await?),
    };
    let parameters = [
        ("client_id", query.client_id.as_str()),
        ("email", query.email.as_str()),
        ("scope", query.scope.as_str()),
    ];
    let path = paths::with_query(paths::ADMIN_TOKEN_PREVIEW, &parameters);
    Ok(pages::token_preview(&TokenPreviewPage {
        client_id: &query.client_id,
        email: &query.email,
        scope: &query.scope,
        preview: preview.as_ref(),
        url: &app.policy.url(&path),
    }))
}

/// Returns the claims, or the reason why the app would get no tokens.
async fn preview(
    app: &App,
    query: &TokenPreviewQuery,
    context: &RequestContext,
) -> Result<Result<TokenPreview, Text<'static>>, FlowError> {
    let db = &app.identity.db;
    let id: Result<TextId, _> = query.client_id.trim().parse();
    let client = match id {
        Ok(id) => clients::find(db, id.as_ref()).await?,
        Err(_) => None,
    };
    let Some(client) = client.filter(|client| !client.has_expired(context.now)) else {
        return Ok(Err(text::of("token-preview-no-client")));
    };
    if app.grants.check_document(&client, context.now).await.is_err() {
        return Ok(Err(text::of("token-preview-outdated")));
    }
    let scope = match scope_of_request(&client, &query.scope) {
        Ok(scope) => scope,
        Err(reason) => return Ok(Err(reason)),
    };
    let account = match (client.kind, Email::parse(query.email.trim())) {
        (ClientType::Service, _) => None,
        (_, Ok(email)) => account::find_by_email(db, &email).await?,
        (_, Err(_)) => None,
    };
    let is_disabled = account
        .as_ref()
        .is_some_and(|account| account.disabled_at.is_some());
    if client.disabled_at.is_some() || is_disabled {
        return Ok(Err(text::of("token-preview-disabled")));
    }
    if account.is_none() && client.kind != ClientType::Service {
        return Ok(Err(text::of("token-preview-no-user")));
    }
    let claims = app
        .grants
        .preview_tokens(&client, account.as_ref(), scope, context.now);
    let claims = claims.map_err(|error| Error::internal(&error))?;
    Ok(Ok(claims))
}

/// Returns the scope of a request of the client: without a name, its default scope. Fails with the reason if
/// it cannot ask for this scope.
fn scope_of_request(client: &Client, scope: &str) -> Result<Scope, Text<'static>> {
    let scope = match scope.trim() {
        "" => Some(client.default_scope),
        names => names.parse().ok(),
    };
    let scope = scope.filter(|scope| !scope.is_empty() && client.scope.covers(*scope));
    scope.ok_or_else(|| text::of("token-preview-scope").with("scope", client.scope.to_string()))
}
