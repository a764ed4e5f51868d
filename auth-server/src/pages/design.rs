//! `/_design`: the page that shows all components of the pages.

use super::account::qr_code;
use super::admin::{Choice, InTerminal, Lane, TimeLine};
use super::session_item::SessionItem;
use super::{Field, FormState, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use issuer::keys::life::Life;
use std::time::Duration;
use web::Context;

#[derive(Template)]
#[template(path = "design.html")]
struct DesignPage<'a> {
    form: FormState<'a>,
    states: [Choice; 2],
    session: SessionItem,
    line: TimeLine,
    lanes: Vec<Lane<'a>>,
    /// A QR code as an SVG element.
    qr_code: String,
    in_terminal: InTerminal,
    before: Timestamp,
    now: Timestamp,
}

/// `GET /_design`: all components of the pages, for those who change them. The page exists on loopback only, and its examples are in English.
pub(crate) async fn design(Context(context): Context) -> Response {
    let now = context.now;
    let form = FormState {
        csrf: "",
        user: None,
        error: Some("An error says what was wrong and what to do."),
        wrong_field: Some(Field::NewPassword),
    };
    let state = |value, is_chosen| Choice {
        value,
        label: value.to_owned(),
        is_chosen,
    };
    let before = now.before(Duration::from_mins(90));
    let session = SessionItem {
        id: 1,
        browser: "A browser".to_owned(),
        began: before,
        last_used: now,
        address: "192.0.2.1".to_owned(),
        is_current: true,
    };
    let (line, lanes) = time_line(now);
    let page = DesignPage {
        form,
        states: [state("active", true), state("disabled", false)],
        session,
        line,
        lanes,
        qr_code: qr_code("An example").unwrap_or_default(),
        in_terminal: InTerminal::new("keys list", "https://id.example.org/admin/keys"),
        before,
        now,
    };
    render("Design", &page)
}

/// Returns the time line of one key, in the middle of its life.
fn time_line(now: Timestamp) -> (TimeLine, Vec<Lane<'static>>) {
    let life = Life {
        staged_at: now.before(Duration::from_hours(48)),
        activated_at: Some(now.before(Duration::from_hours(24))),
        retired_at: Some(now.after(Duration::from_hours(24))),
        deleted_at: Some(now.after(Duration::from_hours(36))),
    };
    let (line, bars) = TimeLine::draw(&[(life, false)], now);
    let lanes = bars.into_iter().map(|bars| Lane {
        kid: "bX3Jf0",
        state: text::of("key-active").plain(),
        bars,
    });
    (line, lanes.collect())
}
