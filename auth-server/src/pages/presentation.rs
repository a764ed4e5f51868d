//! The language and the branding of the pages for a request.

use super::brand::Brand;
use super::language::Language;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::Arc;

tokio::task_local! {
    /// The presentation of the pages for the request that this task answers.
    static PRESENTATION: Presentation;
}

#[derive(Clone, Debug, Default)]
struct Presentation {
    language: Language,
    brand: Arc<Brand>,
}

/// Middleware that chooses the language and the branding of all pages for a request, those of rejected extractors included.
pub async fn present(State(brand): State<Arc<Brand>>, request: Request, next: Next) -> Response {
    let language = Language::of_request(request.uri(), request.headers());
    let mut response = PRESENTATION
        .scope(Presentation { language, brand }, next.run(request))
        .await;
    if response.headers().contains_key(header::CONTENT_SECURITY_POLICY) {
        let tag = HeaderValue::from_static(language.tag());
        response.headers_mut().insert(header::CONTENT_LANGUAGE, tag);
    }
    response
}

/// Returns the language of the request.
pub(super) fn language() -> Language {
    current().language
}

/// Returns the branding of the pages.
pub(super) fn brand() -> Arc<Brand> {
    current().brand
}

/// Returns the presentation that [`present`] chose, or the default outside a request.
fn current() -> Presentation {
    PRESENTATION.try_with(Clone::clone).unwrap_or_default()
}
