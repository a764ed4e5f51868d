//! Pages with a message and no form. Each has a link, so that none is a dead end.

use super::text::{self, Text};
use super::{presentation, render};
use crate::paths;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use web::Code;

#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    title: &'a str,
    text: String,
    /// The reason for the developer of the application, in English.
    detail: Option<&'a str>,
    /// The correlation id of the response, if it is an error.
    correlation_id: Option<String>,
    /// The path of the page on which the user can go on.
    next: &'a str,
    /// The label of the link to that page.
    link: String,
    /// The further links, each with its label and its path.
    further: Vec<(String, &'a str)>,
    /// The path of the page on which the user can add a passkey, if the page offers one.
    passkey_offer: Option<&'a str>,
}

/// Returns the page of a text whose value is the heading, whose attribute `text` is the message, and whose
/// attribute `link` is the label of the link to the page on which the user can go on.
pub(crate) fn notify(text: &Text<'_>, next: &str) -> Response {
    notify_with_offer(text, next, None)
}

/// Returns a page like [`notify`]. It offers a passkey if it gets the path of the page on which the user can
/// add one.
pub(crate) fn notify_with_offer(text: &Text<'_>, next: &str, passkey_offer: Option<&str>) -> Response {
    let title = text.plain();
    let page = MessagePage {
        passkey_offer,
        ..message(&title, text, next)
    };
    render(&title, &page)
}

/// Returns the page of an error like [`notify`], with the correlation id. The message should tell the user
/// what to do.
pub(crate) fn error(status: StatusCode, text: &Text<'_>, next: &str) -> Response {
    (status, error_page(text, None, next)).into_response()
}

/// Returns the page of an error like [`error`] for a user who has to come as another one, with a link to sign
/// out.
pub(crate) fn error_of_user(status: StatusCode, text: &Text<'_>) -> Response {
    let title = text.plain();
    let page = MessagePage {
        further: vec![(text::of("sign-out-submit").plain(), paths::SIGN_OUT)],
        ..error_message(&title, text, paths::ACCOUNT)
    };
    (status, render(&title, &page)).into_response()
}

/// Returns the page of an error like [`error`] after which the user goes back. It and its links to the other
/// languages lead to the page before, if the browser tells which one it was. `detail` is the reason for the
/// developer of an application, in English.
pub(crate) fn error_of_form(status: StatusCode, text: &Text<'_>, detail: Option<&str>) -> Response {
    let (title, before) = (text.plain(), presentation::page_before());
    let mut page = MessagePage {
        detail,
        ..error_message(&title, text, paths::ACCOUNT)
    };
    if let Some(path) = &before {
        let to_account = std::mem::replace(&mut page.link, text::of("go-back").plain());
        page.further = vec![(to_account, page.next)];
        page.next = path;
        presentation::link_languages_to(path);
    }
    (status, render(&title, &page)).into_response()
}

/// Returns the page of an error that an application caused, with the reason for its developer in English.
pub(crate) fn error_of_app(text: &Text<'_>, detail: &str, next: &str) -> Response {
    (StatusCode::BAD_REQUEST, error_page(text, Some(detail), next)).into_response()
}

/// Returns the page of an error for which the program has no page of its own. `retry_after` is the value of
/// that header.
pub(super) fn error_of_program(code: Code, status: StatusCode, retry_after: Option<&str>) -> Response {
    let (goes_back, text) = match code {
        Code::RateLimited => {
            let text = text::of("page-too-many-requests");
            (false, text.with("wait", in_seconds(retry_after)))
        }
        Code::NotFound => (false, text::of("page-not-found")),
        Code::MethodNotAllowed => (false, text::of("page-after-form")),
        Code::PayloadTooLarge | Code::RequestTimeout | Code::UnsupportedMediaType => {
            (true, text::of("page-not-accepted"))
        }
        Code::DependencyUnavailable => (true, text::of("page-unavailable")),
        Code::InternalError | Code::StorageFull => (false, text::of("page-failed")),
        _ => (true, text::of("page-refused")),
    };
    match goes_back {
        true => error_of_form(status, &text, None),
        false => error(status, &text, paths::ACCOUNT),
    }
}

fn in_seconds(retry_after: Option<&str>) -> String {
    let seconds = retry_after.and_then(|seconds| seconds.parse().ok());
    text::duration(std::time::Duration::from_secs(seconds.unwrap_or(60)))
}

fn error_page(text: &Text<'_>, detail: Option<&str>, next: &str) -> Response {
    let title = text.plain();
    let page = MessagePage {
        detail,
        ..error_message(&title, text, next)
    };
    render(&title, &page)
}

/// Returns the page of an error, with the correlation id.
fn error_message<'a>(title: &'a str, text: &Text<'_>, next: &'a str) -> MessagePage<'a> {
    MessagePage {
        correlation_id: presentation::correlation_id(),
        ..message(title, text, next)
    }
}

/// Returns the page with this title, and with the other parts of the text.
fn message<'a>(title: &'a str, text: &Text<'_>, next: &'a str) -> MessagePage<'a> {
    MessagePage {
        title,
        text: text.attribute("text"),
        detail: None,
        correlation_id: None,
        next,
        link: text.attribute("link"),
        further: Vec::new(),
        passkey_offer: None,
    }
}
