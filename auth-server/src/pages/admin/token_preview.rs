//! The page of the claims that an app would get for a user.

use super::{InTerminal, options, quoted};
use crate::pages::text::Text;
use crate::pages::{Field, FormState, render_in_tab, text};
use crate::paths;
use askama::Template;
use axum::response::Response;
use issuer::grants::{PreviewRefusal, PreviewRequest, TokenPreview};
use serde_json::Value;

/// The form as it was filled in, and the claims or the reason why there are none.
pub(crate) struct TokenPreviewPage<'a> {
    pub(crate) request: PreviewRequest<'a>,
    pub(crate) preview: Option<&'a TokenPreview>,
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
    /// The claims of the access token as JSON with one member per line, as the others.
    access_token: Option<String>,
    id_token: Option<String>,
    user_info: Option<String>,
    /// Whether the tokens are those of a user and not of a service.
    has_user: bool,
    path: &'static str,
    in_terminal: InTerminal,
}

/// Renders the page.
pub(crate) fn token_preview(page: &TokenPreviewPage<'_>) -> Response {
    let (request, preview) = (page.request, page.preview);
    let refusal = preview.and_then(|preview| preview.refusal);
    let error = refusal.map(|refusal| in_words(refusal).plain());
    let claims = |of: fn(&TokenPreview) -> Option<&Value>| {
        let claims = preview.and_then(of);
        claims.map(|claims| format!("{claims:#}"))
    };
    let template = TokenPreviewTemplate {
        form: FormState {
            csrf: "",
            user: None,
            error: error.as_deref(),
            reason: None,
            wrong_field: refusal.and_then(wrong_field),
        },
        client_id: request.client_id,
        email: request.email,
        scope: request.scope,
        access_token: claims(|preview| preview.access_token.as_ref()),
        id_token: claims(|preview| preview.id_token.as_ref()),
        user_info: claims(|preview| preview.user_info.as_ref()),
        has_user: preview.is_some_and(|preview| preview.has_user),
        path: paths::ADMIN_TOKEN_PREVIEW,
        in_terminal: InTerminal::new(&command(request), &quoted(page.url)),
    };
    render_in_tab("clients", &text::of("token-preview").plain(), &template)
}

fn in_words(refusal: PreviewRefusal) -> Text<'static> {
    match refusal {
        PreviewRefusal::NoClient => text::of("token-preview-no-client"),
        PreviewRefusal::NoUser => text::of("token-preview-no-user"),
        PreviewRefusal::Disabled => text::of("token-preview-disabled"),
        PreviewRefusal::Scope(scope) => text::of("token-preview-scope").with("scope", scope.to_string()),
        PreviewRefusal::Outdated => text::of("token-preview-outdated"),
    }
}

/// Returns the field that the refusal is about, if it is about one.
const fn wrong_field(refusal: PreviewRefusal) -> Option<Field> {
    match refusal {
        PreviewRefusal::NoClient => Some(Field::ClientId),
        PreviewRefusal::NoUser => Some(Field::Email),
        PreviewRefusal::Scope(_) => Some(Field::Scope),
        PreviewRefusal::Disabled | PreviewRefusal::Outdated => None,
    }
}

/// Returns the command that previews the same, for a shell.
fn command(request: PreviewRequest<'_>) -> String {
    let parameters = [
        ("client", request.client_id),
        ("user", request.email),
        ("scope", request.scope),
    ];
    let parameters = parameters.map(|(name, value)| (name, value.to_owned()));
    let entered = parameters.iter().filter(|(_, value)| !value.is_empty());
    format!("tokens preview{}", options(entered))
}
