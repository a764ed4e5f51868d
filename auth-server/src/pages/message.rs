//! Pages with a message and no form.

use super::render;
use super::text::{self, Text};
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    title: &'a str,
    text: String,
    /// The reason for the developer of the application, in English.
    detail: Option<&'a str>,
    /// The path and the label of a link to the next page.
    next: Option<(&'a str, String)>,
}

/// Returns the page of a text whose value is the heading and whose attribute `text` is the message.
pub(crate) fn notify(text: &Text<'_>) -> Response {
    message(text, None, None)
}

/// Returns the page of a text like [`notify`], with a link to the next page, whose label is the attribute `link`.
pub(crate) fn notify_with_link(text: &Text<'_>, path: &str) -> Response {
    message(text, None, Some(path))
}

/// Returns the page of an error like [`notify`]. The message should tell the user what to do.
pub(crate) fn error(status: StatusCode, text: &Text<'_>) -> Response {
    (status, message(text, None, None)).into_response()
}

/// Returns the page of an error like [`error`], with a link to the page on which the user can go on, whose label is the attribute `link`.
pub(crate) fn error_with_link(status: StatusCode, text: &Text<'_>, path: &str) -> Response {
    (status, message(text, None, Some(path))).into_response()
}

/// Returns the page of an error that an application caused, with the reason for its developer in English.
pub(crate) fn error_of_app(text: &Text<'_>, detail: &str) -> Response {
    (StatusCode::BAD_REQUEST, message(text, Some(detail), None)).into_response()
}

fn message(text: &Text<'_>, detail: Option<&str>, next: Option<&str>) -> Response {
    let title = text.plain();
    let page = MessagePage {
        title: &title,
        text: text.attribute("text"),
        detail,
        next: next.map(|path| (path, text.attribute("link"))),
    };
    render(&title, &page)
}
