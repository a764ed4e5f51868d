//! The pages of the reference, the same in Markdown, and `/llms.txt`. They need no script.

use super::reference::{self, Reference, Section, schemas};
use crate::Error;
use askama::Template;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use foundation::secret;
use url::form_urlencoded;

pub(super) const CACHING: &str = "public, max-age=300";
/// Allows no script, and one style sheet. The icon is an empty `data:` URL: the API has none, and browsers would
/// request `/favicon.ico`.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";
/// The longest client id that the samples repeat, in bytes. A page has dozens of places for it.
const MAX_CLIENT_ID: usize = 256;
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The general page, or the page of a section.
#[derive(Template)]
#[template(path = "reference.html")]
struct Page<'a> {
    whole: &'a Reference,
    current: Option<&'a Section>,
    /// The client id that the reader gave. Empty if none was given.
    client_id: &'a str,
    /// The query of links to other pages, which keeps the client id.
    query: String,
}

impl Page<'_> {
    fn is_current(&self, section: &Section) -> bool {
        self.current.is_some_and(|current| current.slug == section.slug)
    }
}

/// A section in Markdown.
#[derive(Template)]
#[template(path = "reference.md")]
struct Markdown<'a> {
    current: &'a Section,
}

#[derive(Template)]
#[template(path = "llms.txt")]
struct Overview<'a> {
    whole: &'a Reference,
}

/// Returns the general page. `query` may have the `client_id` for the samples.
pub(super) fn general_page(whole: &Reference, query: Option<&str>) -> Result<Response, Error> {
    page(whole, None, query)
}

/// Returns the page of a section, or the same in Markdown if the name of the file ends in `.md`.
pub(super) fn section(whole: &Reference, file: &str, query: Option<&str>) -> Result<Response, Error> {
    let slug = file.strip_suffix(".md");
    let mut sections = whole.sections.iter();
    let found = sections.find(|section| section.slug == slug.unwrap_or(file));
    let current = found.ok_or_else(Error::not_found)?;
    if slug.is_none() {
        return page(whole, Some(current), query);
    }
    render(MARKDOWN, &Markdown { current }, client_id(query).as_deref())
}

/// Returns the description of the program for language models (llmstxt.org).
pub(super) fn overview(whole: &Reference) -> Result<Response, Error> {
    render(MARKDOWN, &Overview { whole }, None)
}

fn page(whole: &Reference, current: Option<&Section>, query: Option<&str>) -> Result<Response, Error> {
    let client_id = client_id(query);
    let query = client_id.as_ref().map(|id| format!("?client_id={id}"));
    let page = Page {
        whole,
        current,
        client_id: client_id.as_deref().unwrap_or_default(),
        query: query.unwrap_or_default(),
    };
    render(HTML, &page, client_id.as_deref())
}

/// Renders a text with the client id of the reader in its samples.
fn render(
    media_type: &'static str,
    template: &impl Template,
    client_id: Option<&str>,
) -> Result<Response, Error> {
    let mut text = template.render().map_err(|error| Error::internal(&error))?;
    if let Some(client_id) = client_id {
        text = text.replace(schemas::CLIENT_ID, client_id);
    }
    let etag = format!("\"{}\"", secret::encode(&secret::hash(&text)));
    let response = response(media_type, CONTENT_SECURITY_POLICY, text);
    Ok(([(header::ETAG, etag)], response).into_response())
}

/// Returns a page, or a file of one, with the headers that all of them have.
pub(super) fn response(media_type: &str, security_policy: &str, content: impl IntoResponse) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, security_policy),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, CACHING),
    ];
    let opener_policy = [("cross-origin-opener-policy", "same-origin")];
    (headers, opener_policy, content).into_response()
}

/// Returns the client id of a query, if it is not too long and needs no quoting in HTML and in the languages of
/// the samples.
fn client_id(query: Option<&str>) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query?.as_bytes());
    let id = pairs.find_map(|(name, value)| (name == "client_id").then_some(value))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/".contains(c);
    ((1..=MAX_CLIENT_ID).contains(&id.len()) && id.chars().all(is_plain)).then(|| id.into_owned())
}
