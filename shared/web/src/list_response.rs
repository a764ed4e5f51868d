//! The body of a list, `{items, next, links}`, and the links as a `Link` header (RFC 8288).

use crate::json_response;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use foundation::cursor::Cursor;
use foundation::list_query::{Direction, PageRequest};
use serde::{Serialize, Serializer};
use std::fmt::Display;
use storage::paging::{HasCursor, Page};
use utoipa::ToSchema;

/// The capacity of the buffer of a page, in bytes.
const CAPACITY: usize = 16 * 1024;
/// The longest value of the `Link` header, in bytes.
const MAX_HEADER: usize = 2048;

/// A page of a list.
#[derive(Serialize, ToSchema)]
#[schema(as = List)]
pub struct Envelope<T, C = Cursor> {
    /// At most 20 items.
    items: Vec<T>,
    /// The cursor of the next page; null if there is none.
    #[schema(required, inline)]
    #[serde(serialize_with = "serialize_as_text", bound(serialize = "C: Display"))]
    next: Option<C>,
    /// The URLs of the neighboring pages.
    links: Links,
}

/// The URLs of the pages before and after this one.
#[derive(Serialize, ToSchema)]
pub struct Links {
    /// The next page.
    #[schema(required, format = "uri")]
    pub next: Option<String>,
    /// The previous page.
    #[schema(required, format = "uri")]
    pub prev: Option<String>,
}

/// Returns the response with this page. `list_url` is the absolute URL of the list, without a query string.
pub fn list_response<T>(page: Page<T>, request: &PageRequest<T::Cursor>, list_url: &str) -> Response
where
    T: HasCursor<Cursor: Display + ToSchema> + Serialize,
{
    let links = Links::of(&page, request, list_url);
    let header = links.header();
    let envelope = Envelope {
        next: page.next(),
        items: page.items,
        links,
    };
    let links = AppendHeaders(header.map(|value| (header::LINK, value)));
    (links, json_response(&envelope, CAPACITY)).into_response()
}

impl Links {
    /// Returns the links of a page. `list_url` is the URL of the list, without a query string.
    pub fn of<T>(page: &Page<T>, request: &PageRequest<T::Cursor>, list_url: &str) -> Self
    where
        T: HasCursor<Cursor: Display + ToSchema>,
    {
        let next = page.next();
        let prev = (!page.is_first).then(|| page.previous());
        Self {
            next: next.map(|cursor| request.url(list_url, Some(&cursor), Direction::Next)),
            prev: prev.map(|cursor| request.url(list_url, cursor.as_ref(), Direction::Prev)),
        }
    }

    /// Returns the value of the `Link` header, if there is any link. A value that would make the head of the
    /// response too long for proxies is left out: the body has the links too.
    fn header(&self) -> Option<String> {
        let link = |rel, url: &Option<String>| url.as_ref().map(|url| format!(r#"<{url}>; rel="{rel}""#));
        match (link("next", &self.next), link("prev", &self.prev)) {
            (Some(next), Some(prev)) => Some(format!("{next}, {prev}")),
            (next, prev) => next.or(prev),
        }
        .filter(|value| value.len() <= MAX_HEADER)
    }
}

fn serialize_as_text<S: Serializer>(cursor: &Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match cursor {
        Some(cursor) => serializer.collect_str(cursor),
        None => serializer.serialize_none(),
    }
}
