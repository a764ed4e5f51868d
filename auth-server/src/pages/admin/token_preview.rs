//! The page of the claims that an app would get for a user.

use super::{InTerminal, quoted};
use crate::pages::text::Text;
use crate::pages::{FormState, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use issuer::grants::TokenPreview;

/// The form as it was filled in, and the claims or the reason why there are none.
pub(crate) struct TokenPreviewPage<'a> {
    pub(crate) client_id: &'a str,
    pub(crate) email: &'a str,
    pub(crate) scope: &'a str,
    pub(crate) preview: Option<&'a Result<TokenPreview, Text<'static>>>,
    /// The URL of the page with these fields.
    pub(crate) url: &'a str,
}

#[derive(Template)]
#[template(path = "token_preview.html")]
struct TokenPreviewTemplate<'a> {
    form: FormState<'a>,
    client_id: &'a str,
    email: &'a str,
    scope: &'a str,
    preview: Option<&'a TokenPreview>,
    /// Whether the tokens are those of a user and not of a service.
    has_user: bool,
    path: &'static str,
    in_terminal: InTerminal,
}

/// Renders the page.
pub(crate) fn token_preview(page: &TokenPreviewPage<'_>) -> Response {
    let refusal = page.preview.and_then(|preview| preview.as_ref().err());
    let refusal = refusal.map(Text::plain);
    let preview = page.preview.and_then(|preview| preview.as_ref().ok());
    let template = TokenPreviewTemplate {
        form: FormState {
            csrf: "",
            user: None,
            error: refusal.as_deref(),
            wrong_field: None,
        },
        client_id: page.client_id,
        email: page.email,
        scope: page.scope,
        preview,
        has_user: preview.is_some_and(|preview| preview.has_user),
        path: paths::ADMIN_TOKEN_PREVIEW,
        in_terminal: InTerminal::page(&quoted(page.url)),
    };
    render_in_tab("clients", &text::of("token-preview").plain(), &template)
}
