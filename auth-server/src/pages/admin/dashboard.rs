//! The page of the figures.

use super::plot::{self, Line, Plot};
use super::{Choice, InTerminal, quoted};
use crate::pages::render_in_tab;
use crate::pages::text::{self, Text};
use askama::Template;
use audit::figures::Window;
use axum::response::Response;
use foundation::clock::Timestamp;
use issuer::figures::{Durations, Figures, Values};
use std::time::Duration;

/// The figures of a window.
pub(crate) struct DashboardPage<'a> {
    pub(crate) figures: &'a Figures,
    /// The URL of the page.
    pub(crate) url: &'a str,
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct DashboardTemplate {
    windows: [Choice; 3],
    is_empty: bool,
    step: Text<'static>,
    plots: Vec<Plot>,
    in_terminal: InTerminal,
    /// The end of the window, so that the left edge of a plot names the whole length of the window.
    until: Timestamp,
}

/// A line before its plot has a scale, which is that of all its lines.
struct Undrawn {
    class: &'static str,
    /// The value of each period.
    values: Vec<Option<u64>>,
    label: Text<'static>,
}

/// Renders the figures of a window.
pub(crate) fn dashboard(page: &DashboardPage<'_>) -> Response {
    let figures = page.figures;
    let chosen = figures.window.as_str();
    let windows = Window::ALL.map(|window| Choice {
        value: window.as_str(),
        label: in_words(window).plain(),
        is_chosen: window == figures.window,
    });
    let template = DashboardTemplate {
        windows,
        is_empty: figures.is_empty,
        step: text::of("figures-step").with("step", text::duration(figures.window.step())),
        plots: plots(figures),
        in_terminal: InTerminal::new(
            &format!("figures show --window {chosen}"),
            &quoted(&format!("{}?window={chosen}", page.url)),
        ),
        until: figures.end,
    };
    render_in_tab("dashboard", &text::of("dashboard").plain(), &template)
}

fn in_words(window: Window) -> Text<'static> {
    match window {
        Window::Hour => text::of("window-hour"),
        Window::Day => text::of("window-day"),
        Window::Week => text::of("window-week"),
    }
}

fn plots(figures: &Figures) -> Vec<Plot> {
    let succeeded = counted(figures, "first", &text::of("figures-succeeded"), |of| of.sign_ins);
    let failed = counted(figures, "bad", &text::of("figures-failed"), |of| {
        of.failed_sign_ins
    });
    let code = counted(figures, "first", &text::of("grant-code"), |of| {
        of.grants.authorization_code
    });
    let refresh = counted(figures, "second", &text::of("grant-refresh"), |of| {
        of.grants.refresh_token
    });
    let service = counted(figures, "third", &text::of("grant-service"), |of| {
        of.grants.client_credentials
    });
    let device = counted(figures, "fourth", &text::of("grant-device"), |of| {
        of.grants.device_code
    });
    let responses = counted(figures, "first", &text::of("figures-responses"), |of| of.requests);
    let of_clients = counted(figures, "second", &text::of("figures-client-errors"), |of| {
        of.client_errors
    });
    let of_service = counted(figures, "bad", &text::of("figures-server-errors"), |of| {
        of.server_errors
    });
    let alerts = counted(figures, "bad", &text::of("figures-alerts"), |of| of.reuse_alerts);
    let refused = counted(figures, "bad", &text::of("figures-refused"), |of| {
        of.refused_hashes
    });
    let lag = timed(figures, |of| &of.revocation_lag);
    let wait = timed(figures, |of| &of.hashing_wait);
    let by_grant = [code, refresh, service, device];
    let requests = [responses, of_clients, of_service];
    vec![
        draw(figures, text::of("figures-sign-ins"), number, [succeeded, failed]),
        draw(figures, text::of("figures-grants"), number, by_grant),
        draw(figures, text::of("figures-requests"), number, requests),
        draw(figures, text::of("figures-reuse"), number, [alerts]),
        draw(figures, text::of("figures-lag"), milliseconds, lag),
        draw(figures, text::of("figures-keys"), age, [key_age(figures)]),
        draw(figures, text::of("figures-hashing"), milliseconds, wait),
        draw(figures, text::of("figures-refusals"), number, [refused]),
    ]
}

/// Draws the lines of a plot. `in_words` tells one of their values.
fn draw<const N: usize>(
    figures: &Figures,
    title: Text<'static>,
    in_words: fn(u64) -> String,
    lines: [Undrawn; N],
) -> Plot {
    let top = plot::top(lines.iter().flat_map(|line| &line.values));
    let begin = figures.periods.first().map(|period| period.at);
    let lines = lines.into_iter().map(|line| {
        let (path, points) = plot::paths(&line.values, top);
        Line {
            class: line.class,
            path,
            points,
            label: line.label,
        }
    });
    Plot {
        title,
        scale: text::of("figures-scale").with("top", in_words(top)),
        begin: begin.unwrap_or(Timestamp::from_micros(0)),
        lines: lines.collect(),
    }
}

/// Returns the line of a count.
fn counted(figures: &Figures, class: &'static str, name: &Text<'_>, value: fn(&Values) -> u64) -> Undrawn {
    let values: Vec<u64> = figures
        .periods
        .iter()
        .map(|period| value(&period.values))
        .collect();
    let label = text::of("figures-counted").with("name", name.plain());
    let label = label.with("last", values.last().copied().unwrap_or_default());
    Undrawn {
        class,
        values: values.into_iter().map(Some).collect(),
        label: label.with("all", value(&figures.total)),
    }
}

/// Returns the lines of the median and of the 99th percentile of durations.
fn timed(figures: &Figures, durations: fn(&Values) -> &Durations) -> [Undrawn; 2] {
    let half = text::of("figures-half");
    let nearly_all = text::of("figures-nearly-all");
    [
        percentile(figures, "first", &half, durations, |of| of.p50),
        percentile(figures, "second", &nearly_all, durations, |of| of.p99),
    ]
}

/// Returns the line of a percentile of durations.
fn percentile(
    figures: &Figures,
    class: &'static str,
    name: &Text<'_>,
    durations: fn(&Values) -> &Durations,
    percentile: fn(&Durations) -> Option<u64>,
) -> Undrawn {
    let value = |values: &Values| percentile(durations(values));
    let values: Vec<_> = figures
        .periods
        .iter()
        .map(|period| value(&period.values))
        .collect();
    let last = values.iter().rev().find_map(|value| *value);
    let label = match last.zip(value(&figures.total)) {
        Some((last, all)) => text::of("figures-took")
            .with("last", milliseconds(last))
            .with("all", milliseconds(all)),
        None => text::of("figures-not-measured"),
    };
    Undrawn {
        class,
        values,
        label: label.with("name", name.plain()),
    }
}

/// Returns the line of the age of the signing key.
fn key_age(figures: &Figures) -> Undrawn {
    let mut values: Vec<_> = figures.periods.iter().map(|period| period.key_age).collect();
    // The last period has ended. The line ends now, so that its scale covers the age in the label.
    if let Some(last) = values.last_mut() {
        *last = figures.key_age;
    }
    let label = match figures.key_age {
        Some(seconds) => text::of("figures-key").with("age", age(seconds)),
        None => text::of("figures-no-key"),
    };
    Undrawn {
        class: "first",
        values,
        label,
    }
}

fn number(n: u64) -> String {
    n.to_string()
}

pub(super) fn milliseconds(n: u64) -> String {
    text::of("milliseconds").with("n", n).plain()
}

fn age(seconds: u64) -> String {
    text::duration(Duration::from_secs(seconds))
}
