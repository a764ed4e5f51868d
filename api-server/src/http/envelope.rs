//! The body of a list, `{items, next, links}`, and the links as a `Link` header (RFC 8288).

use super::json;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use resources::paging::{Cursor, Direction, HasCursor, Page, PageRequest};
use serde::Serialize;
use utoipa::ToSchema;

/// The capacity of the buffer of a page, in bytes.
const CAPACITY: usize = 16 * 1024;

/// A page of a list.
#[derive(Serialize, ToSchema)]
#[schema(as = List)]
pub(super) struct Envelope<T> {
    /// At most 20 items.
    items: Vec<T>,
    /// The cursor of the next page; null if there is none.
    #[schema(required)]
    next: Option<Cursor>,
    /// The URLs of the neighboring pages.
    links: Links,
}

/// The URLs of the pages before and after this one.
#[derive(Serialize, ToSchema)]
struct Links {
    /// The next page.
    #[schema(required, format = "uri")]
    next: Option<String>,
    /// The previous page.
    #[schema(required, format = "uri")]
    prev: Option<String>,
}

/// Returns the response with this page. `list_url` is the absolute URL of the list, without a query string.
pub(super) fn response<T: HasCursor + Serialize>(
    page: Page<T>,
    request: &PageRequest,
    list_url: &str,
) -> Response {
    let url = |cursor, direction| match request.query_string(cursor, direction) {
        query if query.is_empty() => list_url.to_owned(),
        query => format!("{list_url}?{query}"),
    };
    let next = page.next();
    // A page after the end has no first item from which to page backward, so its previous page is the first page.
    let prev = (!page.is_first).then(|| page.items.first().map(T::cursor));
    let links = Links {
        next: next.map(|cursor| url(Some(cursor), Direction::Next)),
        prev: prev.map(|cursor| url(cursor, Direction::Prev)),
    };
    let header = links.header();
    let envelope = Envelope {
        items: page.items,
        next,
        links,
    };
    (
        AppendHeaders(header.map(|value| (header::LINK, value))),
        json::response(&envelope, CAPACITY),
    )
        .into_response()
}

impl Links {
    /// Returns the value of the `Link` header, if there is any link.
    fn header(&self) -> Option<String> {
        let link = |rel, url: &Option<String>| url.as_ref().map(|url| format!(r#"<{url}>; rel="{rel}""#));
        match (link("next", &self.next), link("prev", &self.prev)) {
            (Some(next), Some(prev)) => Some(format!("{next}, {prev}")),
            (next, prev) => next.or(prev),
        }
    }
}
