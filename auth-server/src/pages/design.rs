//! `/_design`: the page that shows all components of the pages.

use super::account::qr_code;
use super::admin::{
    ChangeItem, Choice, Condition, Count, EventItem, InTerminal, Lane, Line, Plot, TimeLine, UserChange,
    by_time, orders, refusal,
};
use super::event_details::Detail;
use super::part::Part;
use super::passkeys::PasskeyChallenge;
use super::session_item::SessionItem;
use super::text::Text;
use super::{Field, FormState, allow_requests, presentation, render, text};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::list_query::Order;
use issuer::keys::life::Life;
use std::time::Duration;
use web::Context;

#[derive(Template)]
#[template(path = "design.html")]
struct DesignPage<'a> {
    form: FormState<'a>,
    challenge: PasskeyChallenge,
    states: [Choice; 2],
    orders: [Choice; 2],
    conditions: [Condition; 1],
    further_conditions: [Condition; 1],
    session: SessionItem,
    line: TimeLine,
    lanes: Vec<Lane<'a>>,
    plot: Plot,
    /// A QR code as an SVG element.
    qr_code: String,
    changes: [ChangeItem; 2],
    events: Vec<EventItem<'a>>,
    part: Part<u8>,
    in_terminal: InTerminal,
    before: Timestamp,
    now: Timestamp,
}

/// `GET /_design`: all components of the pages, for those who change them. The page exists on loopback only.
pub(crate) async fn design(Context(context): Context) -> Response {
    let now = context.now;
    let error = text::of("password-too-short").count("min", 8_u64).plain();
    let form = FormState {
        csrf: "",
        user: None,
        error: Some(&error),
        reason: Some("An example in English"),
        wrong_field: Some(Field::NewPassword),
    };
    let state = |value, label: Text<'_>, is_chosen| Choice {
        value,
        label: label.plain(),
        is_chosen,
    };
    let before = now.before(Duration::from_mins(90));
    let (line, lanes) = time_line(now);
    let page = DesignPage {
        form,
        challenge: challenge(),
        states: [
            state("false", text::of("user-enabled"), true),
            state("true", text::of("user-disabled"), false),
        ],
        orders: orders(Order::Descending, by_time),
        conditions: [Condition {
            value: "x".to_owned(),
            error: Some(refusal("x")),
            ..condition("user_id", &text::of("events-user"), false)
        }],
        further_conditions: [condition("since", &text::of("events-since"), true)],
        session: session(before, now),
        line,
        lanes,
        plot: plot(before),
        qr_code: qr_code("An example").unwrap_or_default(),
        changes: changes(),
        events: vec![event(before)],
        part: Part::of(&[0; 60], 2, ("/_design", "sessions"), |item| *item),
        in_terminal: InTerminal::new("keys list", "https://id.example.org/admin/keys"),
        before,
        now,
    };
    allow_requests(render(&text::of("design").plain(), &page))
}

/// Returns a challenge that no authenticator can answer, so that the button of its form shows the message of
/// a failure.
fn challenge() -> PasskeyChallenge {
    PasskeyChallenge {
        options: "{}".to_owned(),
        state: String::new(),
        seconds: 600,
        page: "/_design".to_owned(),
        script: presentation::brand().passkeys_script_path.clone(),
    }
}

fn condition(name: &'static str, label: &Text<'_>, is_time: bool) -> Condition {
    Condition {
        name,
        label: label.plain(),
        value: String::new(),
        error: None,
        is_time,
    }
}

/// Returns the session of the browser, which began at the time `began`.
fn session(began: Timestamp, now: Timestamp) -> SessionItem {
    let browser = text::of("browser-on-system").with("browser", "Firefox");
    SessionItem {
        id: 1,
        browser: browser.with("system", "Linux").plain(),
        began,
        last_used: now,
        address: "192.0.2.1".to_owned(),
        is_current: true,
    }
}

/// Returns a dangerous change and another one.
fn changes() -> [ChangeItem; 2] {
    let ended = [3, 2, 4].map(Count::all);
    let (label, effect) = UserChange::Disable.in_words(ended, false);
    let (other_label, other_effect) = UserChange::Unlock.in_words(ended, false);
    [
        ChangeItem {
            name: "disable",
            label: label.plain(),
            effect,
            is_dangerous: true,
            in_terminal: InTerminal::new(
                "users disable --email ann@example.org",
                "-X POST https://id.example.org/admin/users/7/disablements",
            ),
        },
        ChangeItem {
            name: "unlock",
            label: other_label.plain(),
            effect: other_effect,
            is_dangerous: false,
            in_terminal: InTerminal::new(
                "users unlock --email ann@example.org",
                "-X DELETE https://id.example.org/admin/users/7/lockouts",
            ),
        },
    ]
}

/// Returns an event that failed several times, the last time at the time `at`.
fn event(at: Timestamp) -> EventItem<'static> {
    EventItem {
        what: text::of("event-sign-in-failed").plain(),
        name: "authn_login_fail",
        has_failed: true,
        count: Some(3),
        detail: Some(Detail {
            text: "wrong password".to_owned(),
            language: Some("en"),
        }),
        at,
        administrator: Some(("ann@example.org".to_owned(), "#links".to_owned())),
        by: None,
        trace_path: "#links".to_owned(),
        trace: "4bf92f3577b34da6a3ce929d0e0e4736",
    }
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

/// Returns a plot with the four kinds of lines and that of failures.
fn plot(begin: Timestamp) -> Plot {
    let kinds = ["first", "second", "third", "fourth", "bad"].into_iter();
    let lines = kinds.zip(1_u32..).map(|(class, n)| Line {
        class,
        path: format!("M0 {}L400 {}L900 {}", 20 * n, 100 - 15 * n, 18 * n),
        points: format!("M950 {}h0", 18 * n),
        label: text::of("figures-counted")
            .with("name", class)
            .with("last", n)
            .with("all", 60 * n),
    });
    Plot {
        title: text::of("figures-requests"),
        scale: text::of("figures-scale").with("top", 60),
        begin,
        lines: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The files with macros, each with the name by which templates import it.
    const FILES: [(&str, &str); 3] = [
        ("components", include_str!("../../templates/components.html")),
        ("fields", include_str!("../../templates/fields.html")),
        ("admin", include_str!("../../templates/admin.html")),
    ];
    const DESIGN: &str = include_str!("../../templates/design.html");

    struct Macro {
        /// The name of its file.
        file: &'static str,
        name: &'static str,
        body: &'static str,
    }

    fn macros() -> Vec<Macro> {
        let macros = FILES.into_iter().flat_map(|(file, source)| {
            source.split("{% macro ").skip(1).map(move |rest| {
                let (name, rest) = rest.split_once('(').unwrap();
                let (body, _) = rest.split_once("endmacro").unwrap();
                Macro { file, name, body }
            })
        });
        macros.collect()
    }

    /// Returns whether a template, which may be the body of a macro in the file `file`, calls a macro.
    fn calls(template: &str, file: Option<&str>, called: &Macro) -> bool {
        let Macro {
            file: scope, name, ..
        } = called;
        let within_file = [format!("{{{{ {name}("), format!("{{% call {name}(")];
        template.contains(&format!("{scope}::{name}("))
            || file == Some(*scope) && within_file.iter().any(|call| template.contains(call))
    }

    /// Returns the macros that these templates call neither directly nor by other macros.
    fn unused(templates: &[&str]) -> Vec<String> {
        let mut used: Vec<Macro> = Vec::new();
        let mut unused = macros();
        loop {
            let is_used = |called: &Macro| {
                let by_macro = |user: &Macro| calls(user.body, Some(user.file), called);
                templates.iter().any(|template| calls(template, None, called)) || used.iter().any(by_macro)
            };
            let (found, rest): (Vec<Macro>, Vec<Macro>) = unused.into_iter().partition(is_used);
            if found.is_empty() {
                let names = rest
                    .iter()
                    .map(|unused| format!("{}::{}", unused.file, unused.name));
                return names.collect();
            }
            used.extend(found);
            unused = rest;
        }
    }

    #[test]
    fn the_page_shows_every_macro() {
        let unused = unused(&[DESIGN]);
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn every_macro_is_used_by_a_page() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let files = std::fs::read_dir(directory).unwrap();
        let templates = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let is_page =
            |template: &String| template != DESIGN && FILES.iter().all(|(_, source)| template != source);
        let pages: Vec<String> = templates.filter(is_page).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let unused = unused(&pages);
        assert!(unused.is_empty(), "{unused:?}");
    }
}
