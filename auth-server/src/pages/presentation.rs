//! The language and the branding of the pages for a request.

use super::brand::Brand;
use super::language::{CHOICE_COOKIE, Language};
use super::message;
use super::notice::Notice;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use web::content_negotiation::prefers_to_json;
use web::context::request_context;
use web::{Code, Error, cookies, is_unwritten_error};

/// The time for which a browser keeps the choice of a language.
const CHOICE_LIFETIME: Duration = Duration::from_hours(365 * 24);

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

#[derive(Clone, Debug, Default)]
struct Presentation {
    language: Language,
    brand: Arc<Brand>,
    address: Arc<Address>,
    correlation_id: Option<String>,
    notice: Option<Notice>,
}

/// Middleware that chooses the language and the branding of all pages for a request, those of rejected extractors included. A browser gets
/// a page for an error, too, that has no page of its own.
pub async fn present(State(brand): State<Arc<Brand>>, request: Request, next: Next) -> Response {
    let language = Language::of_request(request.uri(), request.headers());
    let chosen = Language::chosen_by(request.uri());
    let notice = Notice::of_request(request.headers());
    let address = Address::default();
    if request.method() == Method::GET {
        let _ = address.page.set(request.uri().clone());
    }
    let presentation = Presentation {
        language,
        brand,
        address: Arc::new(address),
        correlation_id: request_context(request.extensions())
            .ok()
            .map(|context| context.trace_id.clone()),
        notice,
    };
    let is_navigation = [Method::GET, Method::POST].contains(request.method());
    let prefers_pages = is_navigation && prefers_to_json(request.headers(), "text/html");
    let respond = async {
        let response = next.run(request).await;
        match prefers_pages && is_unwritten_error(&response) {
            true => with_page(response),
            false => response,
        }
    };
    let mut response = PRESENTATION.scope(presentation, respond).await;
    if let Some(chosen) = chosen {
        let cookie = cookies::set(
            CHOICE_COOKIE,
            chosen.tag(),
            Some(CHOICE_LIFETIME),
            "; HttpOnly; Secure",
        );
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    if response.headers().contains_key(header::CONTENT_SECURITY_POLICY) {
        let tag = HeaderValue::from_static(language.tag());
        response.headers_mut().insert(header::CONTENT_LANGUAGE, tag);
        if notice.is_some() {
            response
                .headers_mut()
                .append(header::SET_COOKIE, Notice::removal());
        }
    }
    response
}

/// Gives an error a page, which has its headers.
fn with_page(response: Response) -> Response {
    let (parts, _) = response.into_parts();
    let code = parts.extensions.get::<Error>().map(Error::code);
    let code = code.unwrap_or_else(|| Error::from_status(parts.status).code());
    let retry_after = parts.headers.get(header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|seconds| seconds.to_str().ok());
    let mut page = message::error_of_program(code, parts.status, retry_after);
    for (name, value) in &parts.headers {
        if *name != header::CONTENT_LENGTH {
            page.headers_mut().append(name, value.clone());
        }
    }
    let headers = page.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("accept"));
    if [Code::RequestTimeout, Code::PayloadTooLarge].contains(&code) {
        // The rest of the body may still arrive and must not be read as the next request.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    *page.extensions_mut() = parts.extensions;
    page
}

/// Returns the correlation id of the response.
pub(super) fn correlation_id() -> Option<String> {
    current().correlation_id
}

/// Returns the change that the browser has to report, if there is one.
pub(super) fn notice() -> Option<Notice> {
    current().notice
}

/// Returns the language of the request.
pub(super) fn language() -> Language {
    current().language
}

/// Returns the branding of the pages.
pub(super) fn brand() -> Arc<Brand> {
    current().brand
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

/// Returns the links to the page in the other languages. There are none if the page tells the result of a form.
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

/// Returns the presentation that [`present`] chose, or the default outside a request.
fn current() -> Presentation {
    PRESENTATION.try_with(Clone::clone).unwrap_or_default()
}
