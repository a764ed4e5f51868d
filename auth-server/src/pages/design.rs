//! `/_design`: the page that shows all components of the pages.

use super::account::qr_code;
use super::admin::InTerminal;
use super::{Field, FormState, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use std::time::Duration;
use web::Context;

#[derive(Template)]
#[template(path = "design.html")]
struct DesignPage<'a> {
    form: FormState<'a>,
    /// A QR code as an SVG element.
    qr_code: String,
    in_terminal: InTerminal,
    before: Timestamp,
    now: Timestamp,
}

/// `GET /_design`: all components of the pages, for those who change them. The page exists on loopback only, and its examples are in English.
pub(crate) async fn design(Context(context): Context) -> Response {
    let form = FormState {
        csrf: "",
        user: None,
        error: Some("An error says what was wrong and what to do."),
        wrong_field: Some(Field::NewPassword),
    };
    let page = DesignPage {
        form,
        qr_code: qr_code("An example").unwrap_or_default(),
        in_terminal: InTerminal::new("keys list", "https://id.example.org/admin/keys"),
        before: context.now.before(Duration::from_mins(90)),
        now: context.now,
    };
    render("Design", &page)
}
