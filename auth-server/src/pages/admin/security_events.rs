//! The page of the security events, which are listed, or grouped if they are refusals.

use super::event_row::{EventRow, path_at};
use super::filter::{Condition, Refused};
use super::{Choice, InTerminal, by_time, none, options, orders, quoted};
use crate::pages::text::Text;
use crate::pages::{allow_requests, event_words, presentation, render_in_tab, text};
use crate::paths;
use askama::Template;
use audit::events::EventName;
use audit::events::list::{Filter, Outcome, SecurityEvent, Tail};
use audit::events::refusals::{MAX_ENTRIES, Refusals};
use axum::response::Response;
use foundation::clock::Timestamp;
use foundation::list_query::Order;
use identity::event_subjects::EventSubjects;
use web::Links;

/// The query parameter, and its value, with which the page groups refusals.
pub(crate) const REFUSALS_VIEW: (&str, &str) = ("view", "refusals");
/// The number of fields that the page always shows.
const COMMON_FIELDS: usize = 2;
/// The length of a time in seconds without its zone, which fields for times have as their value (HTML, "local
/// date and time string").
const LOCAL_TIME_LENGTH: usize = "2026-11-28T16:05:00".len();

/// A page of the security events.
pub(crate) struct SecurityEventsPage<'a> {
    pub(crate) events: &'a [SecurityEvent],
    /// The groups of refusals, if the page shows those. The events are then the newest of each group.
    pub(crate) refusals: Option<&'a Refusals>,
    /// The users and the clients that they are about.
    pub(crate) subjects: &'a EventSubjects,
    /// The condition on the events, which the form shows.
    pub(crate) filter: &'a Filter,
    /// The parameters with invalid values.
    pub(crate) refused: &'a [(&'static str, String)],
    /// The order of the list.
    pub(crate) order: Order,
    pub(crate) links: Links,
    /// The URL of the issuer, without a path.
    pub(crate) origin: &'a str,
    /// The path of the list with the condition that was asked for.
    pub(crate) list_path: &'a str,
    /// The stream of the events that follow those of the page, if it has the newest ones.
    pub(crate) live: Option<LiveEvents>,
    pub(crate) now: Timestamp,
}

/// The stream of the events that follow those of a page.
pub(crate) struct LiveEvents {
    path: String,
    /// The position of the page in the order of the events.
    newest: i64,
    /// The ids up to the position, separated by blanks, whose events the page does not know either.
    missing: String,
}

impl LiveEvents {
    /// Returns the stream at this path of the events that follow those which the tail has read. It begins
    /// with the first that this one missed.
    pub(crate) fn new(path: &str, tail: &Tail) -> Self {
        let (newest, missing) = (tail.position(), tail.missing());
        let after = missing.first().map_or(newest, |id| id - 1).to_string();
        let language = presentation::language().tag();
        let missing: Vec<String> = missing.iter().map(i64::to_string).collect();
        Self {
            path: paths::with_query(path, &[("after", &after), ("language", language)]),
            newest,
            missing: missing.join(" "),
        }
    }
}

#[derive(Template)]
#[template(path = "security_events.html")]
struct SecurityEventsTemplate<'a> {
    is_grouped: bool,
    /// The path of the list, and that of the refusals.
    list_path: &'a str,
    refusals_path: String,
    names: Vec<Choice>,
    outcomes: [Choice; 2],
    orders: [Choice; 2],
    refused: Refused<'a>,
    /// The fields that select the events of a user or an app.
    common_fields: &'a [Condition],
    /// The fields that the page shows on demand.
    further_fields: &'a [Condition],
    has_further_conditions: bool,
    /// Sentences about the refusals that are in none of the groups.
    notices: Vec<Text<'static>>,
    events: Vec<EventRow<'a>>,
    /// The sentence of a list without events.
    no_events: Text<'static>,
    links: &'a Links,
    /// The stream of new events, if the page has the newest ones.
    live: Option<&'a LiveEvents>,
    /// The path of the script that shows them.
    live_script: &'a str,
    in_terminal: InTerminal,
    /// The command and the call that print new events, if the page can show them.
    tail_in_terminal: Option<InTerminal>,
    now: Timestamp,
}

/// Renders a page of the security events.
pub(crate) fn security_events(page: &SecurityEventsPage<'_>) -> Response {
    let is_grouped = page.refusals.is_some();
    let groups = is_grouped.then_some(page.filter);
    let events = page
        .events
        .iter()
        .map(|event| EventRow::new(event, groups, page.subjects));
    let name = |name: &EventName| Choice {
        value: name.as_str(),
        label: event_words::of_kind(*name).plain(),
        is_chosen: page.filter.name.as_deref() == Some(name.as_str()),
    };
    let outcome = |outcome: Outcome, label: Text<'_>| Choice {
        value: outcome.as_str(),
        label: label.plain(),
        is_chosen: page.filter.outcome == Some(outcome),
    };
    let fields = fields(page);
    let (common_fields, further_fields) = fields.split_at(COMMON_FIELDS);
    let brand = presentation::brand();
    let command = command(page);
    let in_terminal = match page.refusals {
        None => InTerminal::new(&command, &quoted(&format!("{}{}", page.origin, page.list_path))),
        Some(_) => InTerminal::new(
            &command,
            &quoted(&format!(
                "{}{}",
                page.origin,
                path_at(paths::ADMIN_REFUSALS, page.filter)
            )),
        ),
    };
    let template = SecurityEventsTemplate {
        is_grouped,
        list_path: page.list_path,
        refusals_path: paths::with_query(page.list_path, &[REFUSALS_VIEW]),
        names: EventName::ALL.iter().map(name).collect(),
        outcomes: [
            outcome(Outcome::Success, text::of("event-success")),
            outcome(Outcome::Failure, text::of("event-failure")),
        ],
        orders: orders(page.order, by_time),
        refused: Refused(page.refused),
        common_fields,
        further_fields,
        has_further_conditions: further_fields.iter().any(|field| !field.value.is_empty()),
        notices: page
            .refusals
            .map(|refusals| notices(refusals, page.now))
            .unwrap_or_default(),
        events: events.collect(),
        no_events: no_events(page),
        links: &page.links,
        live: page.live.as_ref(),
        live_script: &brand.events_script_path,
        in_terminal,
        tail_in_terminal: page.live.as_ref().map(|_| tail_in_terminal(page)),
        now: page.now,
    };
    allow_requests(render_in_tab("events", &text::of("events").plain(), &template))
}

/// Returns the sentence of a list without events.
fn no_events(page: &SecurityEventsPage<'_>) -> Text<'static> {
    let sentence = match page.filter.trace_id {
        Some(_) => text::of("events-none-of-trace"),
        None if page.refusals.is_some_and(|refusals| refusals.has_older) => text::of("events-none-searched"),
        None => text::of("events-none"),
    };
    none(&page.links, sentence)
}

/// Returns sentences about the refusals that are in none of the groups.
fn notices(refusals: &Refusals, now: Timestamp) -> Vec<Text<'static>> {
    let older = match refusals.searched_since {
        Some(time) => text::of("events-refusals-unsearched").since("time", time, now),
        None => text::of("events-refusals-older").count("n", MAX_ENTRIES as u64),
    };
    let further = text::of("events-refusals-further").count("n", refusals.further_groups as u64);
    let older = refusals.has_older.then_some(older);
    let further = (refusals.further_groups > 0).then_some(further);
    older.into_iter().chain(further).collect()
}

/// Returns the fields with the values of the condition.
fn fields(page: &SecurityEventsPage<'_>) -> Vec<Condition> {
    let filter = page.filter;
    let refused = Refused(page.refused);
    let field = |name, label: Text<'_>, value: Option<String>| Condition::new(name, &label, value, refused);
    let id = |id: Option<i64>| id.map(|id| id.to_string());
    let time = |name, label, time: Option<Timestamp>| {
        let without_zone = time.map(|time| time.to_string().chars().take(LOCAL_TIME_LENGTH).collect());
        Condition {
            is_time: true,
            ..field(name, label, without_zone)
        }
    };
    vec![
        field("user_id", text::of("events-user"), id(filter.user_id)),
        field("client_id", text::of("events-client"), filter.client_id.clone()),
        field(
            "administrator_id",
            text::of("events-administrator"),
            id(filter.administrator_id),
        ),
        field("address", text::of("event-address"), filter.address.clone()),
        field("trace_id", text::of("event-trace"), filter.trace_id.clone()),
        field("detail", text::of("events-detail"), filter.detail.clone()),
        time("since", text::of("events-since"), filter.since),
        time("until", text::of("events-until"), filter.until),
    ]
}

/// Returns the command and the call that print new events which fulfil the condition.
fn tail_in_terminal(page: &SecurityEventsPage<'_>) -> InTerminal {
    let command = format!("events tail{}", options(&page.filter.parameters()));
    let stream = path_at(paths::ADMIN_EVENTS_STREAM, page.filter);
    let url = quoted(&format!("{}{stream}", page.origin));
    InTerminal::new(&command, &format!("-N {url}"))
}

/// Returns the command that lists or groups the same events, for a shell.
fn command(page: &SecurityEventsPage<'_>) -> String {
    let (command, implied) = match page.refusals {
        Some(_) => ("events refusals", "outcome"),
        None => ("events list", ""),
    };
    let order = (page.order == Order::Ascending).then(|| ("order", page.order.to_string()));
    let order = order.filter(|_| page.refusals.is_none());
    let parameters = page.filter.parameters();
    let parameters = parameters.iter().filter(|(name, _)| *name != implied);
    format!("{command}{}", options(parameters.chain(&order)))
}
