//! The events on the pages of a user and an app.

use super::person;
use crate::pages::event_details::{self, Detail};
use crate::pages::event_words;
use crate::pages::text::{self, Text};
use crate::paths;
use audit::events::list::{Outcome, SecurityEvent};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use std::collections::HashMap;
use storage::paging::Page;

/// The beginning of the names of events that are changes of an app.
const NAMES_OF_APPS: &str = "client_";

/// An event in the history of a user or an app.
pub(in crate::pages) struct EventItem<'a> {
    /// The event in words.
    pub(in crate::pages) what: String,
    pub(in crate::pages) name: &'a str,
    pub(in crate::pages) has_failed: bool,
    /// The number of events, if it is more than one.
    pub(in crate::pages) count: Option<u64>,
    /// The detail of the event, in words if there are any.
    pub(in crate::pages) detail: Option<Detail>,
    pub(in crate::pages) at: Timestamp,
    /// The administrator who caused the event, with the path of the list of all that this one caused.
    pub(in crate::pages) administrator: Option<(String, String)>,
    /// The one who made a change in place of an administrator, in words.
    pub(in crate::pages) by: Option<Text<'static>>,
    /// The path of the list of all events with this correlation id.
    pub(in crate::pages) trace_path: String,
    pub(in crate::pages) trace: &'a str,
}

/// A part of the changes of a user or an app.
pub(super) struct History<'a> {
    pub(super) items: Vec<EventItem<'a>>,
    /// The path of the page with older changes, if there are any.
    pub(super) older_path: Option<String>,
    /// The path of the page with the newest changes, if it shows others.
    pub(super) newest_path: Option<String>,
}

/// Returns the items of a list of events, with these addresses of administrators by their ids.
pub(super) fn event_items<'a>(
    events: &'a [SecurityEvent],
    emails: &HashMap<i64, String>,
) -> Vec<EventItem<'a>> {
    let items = events.iter().map(|event| EventItem::new(event, emails));
    items.collect()
}

impl<'a> History<'a> {
    /// Returns the changes that the page with this path shows, each with the one who made it.
    pub(super) fn new(changes: &'a Page<SecurityEvent>, emails: &HashMap<i64, String>, page: &str) -> Self {
        let items = changes.items.iter().map(|change| EventItem {
            by: author_in_words(change),
            ..EventItem::new(change, emails)
        });
        let older = |before: Cursor| paths::with_query(page, &[("changes", &before.to_string())]);
        Self {
            items: items.collect(),
            older_path: changes.next().map(|before| format!("{}#history", older(before))),
            newest_path: (!changes.is_first).then(|| format!("{page}#history")),
        }
    }
}

/// Returns the author of a change: a command, the app or the user; `None` for an administrator. Only changes
/// by commands have no address.
fn author_in_words(change: &SecurityEvent) -> Option<Text<'static>> {
    match (change.administrator_id, &change.address) {
        (Some(_), _) => None,
        (None, None) => Some(text::of("event-by-command")),
        (None, Some(_)) if change.name.starts_with(NAMES_OF_APPS) => Some(text::of("event-by-app")),
        (None, Some(_)) => Some(text::of("event-by-user")),
    }
}

impl<'a> EventItem<'a> {
    fn new(event: &'a SecurityEvent, emails: &HashMap<i64, String>) -> Self {
        let events_by = |id: i64| {
            let path = paths::with_query(paths::ADMIN_EVENTS, &[("administrator_id", &id.to_string())]);
            (person(id, emails), path)
        };
        Self {
            what: event_words::in_words(event),
            name: &event.name,
            has_failed: event.outcome == Outcome::Failure.as_str(),
            count: event.repetitions(),
            detail: event_details::in_words(event),
            at: event.at,
            administrator: event.administrator_id.map(events_by),
            by: None,
            trace_path: paths::with_query(paths::ADMIN_EVENTS, &[("trace_id", &event.trace_id)]),
            trace: &event.trace_id,
        }
    }
}
