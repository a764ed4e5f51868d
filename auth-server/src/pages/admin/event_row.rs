//! A security event in the list of all, or the newest one of a group of refusals.

use super::person;
use crate::pages::event_details::Detail;
use crate::pages::language::Language;
use crate::pages::text::Text;
use crate::pages::{event_details, event_words, presentation, text};
use crate::paths;
use audit::events::EventName;
use audit::events::list::{Filter, Outcome, SecurityEvent};
use foundation::clock::Timestamp;
use serde::Serialize;
use std::collections::HashMap;

/// The beginning of the names of the events about signing keys.
const NAMES_OF_KEYS: &str = "key";

pub(super) struct EventRow<'a> {
    pub(super) id: i64,
    pub(super) at: Timestamp,
    /// The event in words.
    pub(super) what: String,
    pub(super) name: &'a str,
    pub(super) has_failed: bool,
    /// The number of events for which the row stands, if it is more than one or the row stands for a group.
    pub(super) count: Option<u64>,
    /// The detail of the event, in words if there are any.
    pub(super) detail: Option<Detail>,
    pub(super) trace: Selection,
    /// The pages of what the event is about, each with its path.
    pub(super) touched: Vec<(Text<'static>, String)>,
    /// The path of the list of all refusals of this kind, if the event stands for a group.
    pub(super) kind_path: Option<String>,
    /// The path of the list of all refusals of this kind and cause, if it stands for a group with a cause.
    pub(super) cause_path: Option<String>,
    pub(super) user: Option<Selection>,
    pub(super) administrator: Option<Selection>,
    pub(super) client: Option<Selection>,
    pub(super) address: Option<Selection>,
}

/// A value of an event in words, with the path of the list of all events that have it.
pub(super) struct Selection {
    pub(super) value: String,
    pub(super) path: String,
}

/// The words about an event, for the script that shows new ones on a page.
#[derive(Serialize)]
pub(crate) struct EventWords {
    what: String,
    detail: Option<String>,
    /// The language of the detail, if it may not be that of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail_language: Option<&'static str>,
    user: Option<String>,
    administrator: Option<String>,
}

impl EventWords {
    /// Describes an event in this language, with these addresses of users by their ids.
    pub(crate) fn new(event: &SecurityEvent, emails: &HashMap<i64, String>, language: Language) -> Self {
        presentation::in_language(language, || {
            let detail = event_details::in_words(event);
            Self {
                what: event_words::in_words(event),
                detail_language: detail.as_ref().and_then(|detail| detail.language),
                detail: detail.map(|detail| detail.text),
                user: event.user_id.map(|id| person(id, emails)),
                administrator: event.administrator_id.map(|id| person(id, emails)),
            }
        })
    }
}

impl Selection {
    fn new(parameter: &str, value: &str) -> Self {
        Self {
            value: value.to_owned(),
            path: paths::with_query(paths::ADMIN_EVENTS, &[(parameter, value)]),
        }
    }

    fn of_person(parameter: &str, id: Option<i64>, emails: &HashMap<i64, String>) -> Option<Self> {
        id.map(|id| Self {
            value: person(id, emails),
            ..Self::new(parameter, &id.to_string())
        })
    }

    fn of_text(parameter: &str, text: Option<&str>) -> Option<Self> {
        text.map(|text| Self::new(parameter, text))
    }
}

impl<'a> EventRow<'a> {
    /// Describes an event, which stands for a group if refusals are grouped: those that fulfil the condition
    /// `groups`. The addresses of users by their ids are `emails`.
    pub(super) fn new(
        event: &'a SecurityEvent,
        groups: Option<&Filter>,
        emails: &HashMap<i64, String>,
    ) -> Self {
        let of_kind = groups.map(|refusals| Filter {
            name: Some(event.name.clone()),
            ..refusals.clone()
        });
        let of_cause = of_kind.clone().filter(|_| event.detail.is_some());
        let of_cause = of_cause.map(|of_kind| Filter {
            detail: event.detail.clone(),
            ..of_kind
        });
        let list = |filter: Filter| path_at(paths::ADMIN_EVENTS, &filter);
        Self {
            id: event.id,
            at: event.at,
            what: event_words::in_words(event),
            name: &event.name,
            has_failed: event.outcome == Outcome::Failure.as_str(),
            count: u64::try_from(event.count)
                .ok()
                .filter(|count| groups.is_some() || *count > 1),
            detail: event_details::in_words(event),
            trace: Selection::new("trace_id", &event.trace_id),
            touched: touched(event),
            kind_path: of_kind.map(list),
            cause_path: of_cause.map(list),
            user: Selection::of_person("user_id", event.user_id, emails),
            administrator: Selection::of_person("administrator_id", event.administrator_id, emails),
            client: Selection::of_text("client_id", event.client_id.as_deref()),
            address: Selection::of_text("address", event.address.as_deref()),
        }
    }
}

/// Returns the pages of the user, the app and the keys that an event is about. Deleted users, whose ids are
/// negative in events, have none, and neither has an app in the event of its deletion. The script for new
/// events has the same rules.
fn touched(event: &SecurityEvent) -> Vec<(Text<'static>, String)> {
    let user = event.user_id.filter(|id| *id > 0);
    let user = user.map(|id| (text::of("event-open-user"), paths::of_user(id)));
    let is_deleted = event.name == EventName::ClientDeleted.as_str();
    let client = event.client_id.as_deref().filter(|_| !is_deleted);
    let client = client.map(|id| (text::of("event-open-client"), paths::of_client(id)));
    let keys = event.name.starts_with(NAMES_OF_KEYS);
    let keys = keys.then(|| (text::of("event-open-keys"), paths::ADMIN_KEYS.to_owned()));
    user.into_iter().chain(client).chain(keys).collect()
}

/// Returns this path with the condition.
pub(super) fn path_at(path: &str, filter: &Filter) -> String {
    let parameters = filter.parameters();
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    paths::with_query(path, &parameters)
}
