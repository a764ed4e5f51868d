//! The language and the branding of the pages for a request.

use super::brand::Brand;
use super::done::Done;
use super::language::{self, Language};
use crate::paths;
use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, Uri, header};
use std::sync::{Arc, OnceLock};
use web::context::request_context;

tokio::task_local! {
    /// The presentation of the pages for the request that this task answers.
    static PRESENTATION: Presentation;
}

/// A link to a page in another language.
pub(super) struct LanguageLink {
    /// The tag of the language.
    pub(super) tag: &'static str,
    /// The name of the language in itself.
    pub(super) name: &'static str,
    /// The path and the query.
    pub(super) path: String,
}

/// The address of the page, to which the links to the other languages lead.
#[derive(Debug, Default)]
struct Address {
    /// The URI of the page, if a link can lead to it.
    page: OnceLock<Uri>,
    /// The URI of the page whose form was submitted.
    form: OnceLock<Uri>,
}

/// The presentation of the pages for a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Presentation {
    /// The language of the pages.
    pub(super) language: Language,
    /// The branding, which only a part of a response that is rendered after its beginning lacks.
    brand: Option<Arc<Brand>>,
    address: Arc<Address>,
    /// The address of the page from which the browser tells that it comes.
    referer: Option<HeaderValue>,
    /// The host to which the request was sent.
    host: Option<HeaderValue>,
    correlation_id: Option<String>,
    /// The change that the next page reports, if there is one.
    pub(super) done: Option<Done>,
}

impl Presentation {
    /// Chooses the presentation for a request.
    pub(super) fn of_request(request: &Request, brand: Arc<Brand>) -> Self {
        let address = Address::default();
        if request.method() == Method::GET {
            let _ = address.page.set(request.uri().clone());
        }
        Self {
            language: Language::of_request(request.uri(), request.headers()),
            brand: Some(brand),
            address: Arc::new(address),
            referer: request.headers().get(header::REFERER).cloned(),
            host: request.headers().get(header::HOST).cloned(),
            correlation_id: request_context(request.extensions())
                .ok()
                .map(|context| context.trace_id.clone()),
            done: Done::of_request(request.headers()),
        }
    }

    /// Renders all pages of a response with this presentation.
    pub(super) fn of_response<F: Future>(self, response: F) -> impl Future<Output = F::Output> {
        PRESENTATION.scope(self, response)
    }
}

/// Returns the path of the page from which the browser tells that it comes, if that page is one of this host
/// and has a form. A program may have named any, so that nothing but an authorization flow is taken from the
/// query.
pub(super) fn page_before() -> Option<String> {
    let Presentation { referer, host, .. } = current();
    let page: Uri = referer?.to_str().ok()?.parse().ok()?;
    let host: Authority = host?.to_str().ok()?.parse().ok()?;
    // Without the port, which some proxies do not pass on.
    let is_of_host = page.host()?.eq_ignore_ascii_case(host.host());
    let flow = language::parameter(&page, "flow");
    let has_form = paths::shows_its_form(page.path()) || paths::is_page(page.path());
    (is_of_host && has_form).then(|| paths::of_flow(page.path(), flow.as_deref()))
}

/// Renders texts in this language, for a part of a response that is rendered after its beginning.
pub(super) fn in_language<T>(language: Language, render: impl FnOnce() -> T) -> T {
    let presentation = Presentation {
        language,
        ..Presentation::default()
    };
    PRESENTATION.sync_scope(presentation, render)
}

/// Returns the correlation id of the response.
pub(super) fn correlation_id() -> Option<String> {
    current().correlation_id
}

/// Returns the change that the browser has to report, if there is one.
pub(super) fn done() -> Option<Done> {
    current().done
}

/// Returns the language of the request.
pub(super) fn language() -> Language {
    current().language
}

/// Returns the branding of the pages.
pub(super) fn brand() -> Arc<Brand> {
    current().brand.unwrap_or_default()
}

/// Keeps the address of the page whose form was submitted, for [`show_form_again`].
pub(crate) fn remember_form(address: &str) {
    if let Ok(uri) = address.parse() {
        let _ = current().address.form.set(uri);
    }
}

/// Lets the links to the other languages lead to the page whose form was submitted.
pub(crate) fn show_form_again() {
    let Presentation { address, .. } = current();
    if let Some(uri) = address.form.get() {
        let _ = address.page.set(uri.clone());
    }
}

/// Lets the links to the other languages lead to this address, from which the user comes to the page again.
pub(crate) fn link_languages_to(address: &str) {
    if let Ok(uri) = address.parse() {
        let _ = current().address.page.set(uri);
    }
}

/// Returns the links to the page in the other languages. There are none if the page tells the result of a
/// form: a link could only lead to the form, and a code or a secret that is shown once would be lost.
pub(super) fn language_links() -> Vec<LanguageLink> {
    let Presentation {
        language, address, ..
    } = current();
    let link = |uri: &Uri, other: Language| LanguageLink {
        tag: other.tag(),
        name: other.name(),
        path: other.path_of(uri),
    };
    let uri = address.page.get().into_iter();
    let links = uri.flat_map(|uri| language.others().map(|other| link(uri, other)));
    links.collect()
}

/// Returns the presentation of the response that is rendered, or the default outside a request.
fn current() -> Presentation {
    PRESENTATION.try_with(Clone::clone).unwrap_or_default()
}
