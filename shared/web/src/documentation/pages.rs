//! The pages of the reference, the same in Markdown, and `/llms.txt`. They need no script.

use super::reference::samples::{self, Sample};
use super::reference::{self, Reference, Section, schemas};
use crate::Error;
use askama::Template;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use foundation::secret;
use std::borrow::Cow;
use url::form_urlencoded;

pub(super) const CACHING: &str = "public, max-age=300";
/// Allows no script, and one style sheet. The icon is an empty `data:` URL: the API has none, and browsers would
/// request `/favicon.ico`.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";
/// The longest client id that the samples repeat, in bytes. A page has dozens of places for it.
const MAX_CLIENT_ID: usize = 256;
pub(super) const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The choice of the reader for the samples, by the query of an address. All links keep it.
struct Choice {
    client_id: Option<String>,
    /// The language of the samples that are open, or of those in Markdown, which otherwise has all.
    language: Option<&'static str>,
}

/// The general page, or the page of a section.
#[derive(Template)]
#[template(path = "reference.html")]
struct Page<'a> {
    whole: &'a Reference,
    current: Option<&'a Section>,
    choice: &'a Choice,
    /// The query of links to other pages.
    query: String,
}

/// A section in Markdown.
#[derive(Template)]
#[template(path = "reference.md")]
struct Markdown<'a> {
    current: &'a Section,
    choice: &'a Choice,
}

impl Choice {
    /// Reads a query, of which it ignores what is no plain client id and none of the languages.
    fn of(query: Option<&str>) -> Self {
        let pairs = || form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let value = |wanted: &str| pairs().find_map(|(name, value)| (name == wanted).then_some(value));
        Self {
            client_id: value("client_id").filter(|id| is_plain(id)).map(Cow::into_owned),
            language: value("language").and_then(|name| samples::language(&name)),
        }
    }

    /// Returns the query with this choice of a client id, and with a language.
    fn query(&self, language: Option<&str>) -> String {
        let client_id = self.client_id.as_ref().map(|id| format!("client_id={id}"));
        let language = language.map(|language| format!("language={}", language.to_lowercase()));
        let pairs: Vec<String> = client_id.into_iter().chain(language).collect();
        match pairs.is_empty() {
            true => String::new(),
            false => format!("?{}", pairs.join("&")),
        }
    }
}

impl Page<'_> {
    fn is_current(&self, section: &Section) -> bool {
        self.current.is_some_and(|current| current.slug == section.slug)
    }

    fn is_open(&self, sample: &Sample) -> bool {
        sample.language == self.choice.language.unwrap_or(samples::FIRST_LANGUAGE)
    }

    /// Returns the query of the link that shows the language of a sample in all samples.
    fn query_for(&self, sample: &Sample) -> String {
        self.choice.query(Some(sample.language))
    }
}

impl Markdown<'_> {
    fn has(&self, sample: &Sample) -> bool {
        self.choice
            .language
            .is_none_or(|language| language == sample.language)
    }
}

#[derive(Template)]
#[template(path = "llms.txt")]
struct Overview<'a> {
    whole: &'a Reference,
}

/// Returns the general page. `query` may have the `client_id` and the `language` for the samples.
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
    let choice = &Choice::of(query);
    render(
        MARKDOWN,
        &Markdown { current, choice },
        choice.client_id.as_deref(),
    )
}

/// Returns the description of the program for language models (llmstxt.org).
pub(super) fn overview(whole: &Reference) -> Result<Response, Error> {
    render(MARKDOWN, &Overview { whole }, None)
}

fn page(whole: &Reference, current: Option<&Section>, query: Option<&str>) -> Result<Response, Error> {
    let choice = &Choice::of(query);
    let query = choice.query(choice.language);
    let page = Page {
        whole,
        current,
        choice,
        query,
    };
    render(HTML, &page, choice.client_id.as_deref())
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

/// Returns whether a client id is not too long, and needs no quoting in HTML and in the samples.
fn is_plain(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/".contains(c);
    (1..=MAX_CLIENT_ID).contains(&id.len()) && id.chars().all(is_plain)
}
