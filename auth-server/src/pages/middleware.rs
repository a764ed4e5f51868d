//! The middleware that presents the pages in the language of a browser.

use super::brand::Brand;
use super::done::Done;
use super::language::{CHOICE_COOKIE, COOKIE, Language};
use super::message;
use super::presentation::Presentation;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use issuer::flows;
use std::sync::Arc;
use std::time::Duration;
use web::content_negotiation::prefers_to_json;
use web::{Code, Error, cookies, is_unwritten_error};

/// The time for which a browser keeps the choice of a language.
const CHOICE_LIFETIME: Duration = Duration::from_hours(365 * 24);
const COOKIE_ATTRIBUTES: &str = "; HttpOnly; Secure";

/// Middleware that chooses the language and the branding of all pages for a request, those of rejected
/// extractors included. A browser gets a page for an error, too, that has no page of its own.
pub async fn present(State(brand): State<Arc<Brand>>, request: Request, next: Next) -> Response {
    let chosen = Language::chosen_by(request.uri());
    let asked = Language::asked_by(request.uri());
    let presentation = Presentation::of_request(&request, brand);
    let (language, done) = (presentation.language, presentation.done);
    let is_navigation = [Method::GET, Method::POST].contains(request.method());
    let prefers_pages = is_navigation && prefers_to_json(request.headers(), "text/html");
    let respond = async {
        let response = next.run(request).await;
        match prefers_pages && is_unwritten_error(&response) {
            true => with_page(response),
            false => response,
        }
    };
    let mut response = presentation.of_response(respond).await;
    if let Some(chosen) = chosen {
        let (tag, lifetime) = (chosen.tag(), Some(CHOICE_LIFETIME));
        let cookie = cookies::set(CHOICE_COOKIE, tag, lifetime, COOKIE_ATTRIBUTES);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    if response.headers().contains_key(header::CONTENT_SECURITY_POLICY) {
        let tag = HeaderValue::from_static(language.tag());
        response.headers_mut().insert(header::CONTENT_LANGUAGE, tag);
        // The forms of the page do not repeat the parameter.
        if let Some(asked) = asked {
            let cookie = cookies::set(COOKIE, asked.tag(), Some(flows::LIFETIME), COOKIE_ATTRIBUTES);
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        if done.is_some() {
            response.headers_mut().append(header::SET_COOKIE, Done::removal());
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
