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
use identity::event_subjects::EventSubjects;
use serde::Serialize;

/// The beginning of the names of the events about signing keys.
const NAMES_OF_KEYS: &str = "key";
/// The text before the id of the key in the detail of such an event.
const KEY_ID: &str = "kid ";

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
    /// The number of events for which it stands, if it is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<String>,
    detail: Option<String>,
    /// The language of the detail, if it may not be that of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail_language: Option<&'static str>,
    user: Option<String>,
    administrator: Option<String>,
    /// The label and the path of each page of what the event is about.
    touched: Vec<(String, String)>,
}

impl EventWords {
    /// Describes an event about these users and clients in this language.
    pub(crate) fn new(event: &SecurityEvent, subjects: &EventSubjects, language: Language) -> Self {
        let person = |id| person(id, &subjects.emails);
        presentation::in_language(language, || {
            let detail = event_details::in_words(event);
            let touched = touched(event, subjects).into_iter();
            Self {
                what: event_words::in_words(event),
                count: event
                    .repetitions()
                    .map(|count| text::of("event-count").count("n", count).plain()),
                detail_language: detail.as_ref().and_then(|detail| detail.language),
                detail: detail.map(|detail| detail.text),
                user: event.user_id.map(person),
                administrator: event.administrator_id.map(person),
                touched: touched.map(|(label, path)| (label.plain(), path)).collect(),
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

    fn of_person(parameter: &str, id: Option<i64>, subjects: &EventSubjects) -> Option<Self> {
        id.map(|id| Self {
            value: person(id, &subjects.emails),
            ..Self::new(parameter, &id.to_string())
        })
    }

    fn of_text(parameter: &str, text: Option<&str>) -> Option<Self> {
        text.map(|text| Self::new(parameter, text))
    }
}

impl<'a> EventRow<'a> {
    /// Describes an event, which stands for a group if refusals are grouped: those that fulfil the condition
    /// `groups`.
    pub(super) fn new(event: &'a SecurityEvent, groups: Option<&Filter>, subjects: &EventSubjects) -> Self {
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
            count: event.repetitions().or(groups.map(|_| 1)),
            detail: event_details::in_words(event),
            trace: Selection::new("trace_id", &event.trace_id),
            touched: touched(event, subjects),
            kind_path: of_kind.map(list),
            cause_path: of_cause.map(list),
            user: Selection::of_person("user_id", event.user_id, subjects),
            administrator: Selection::of_person("administrator_id", event.administrator_id, subjects),
            client: Selection::of_text("client_id", event.client_id.as_deref()),
            address: Selection::of_text("address", event.address.as_deref()),
        }
    }
}

/// Returns the pages of the user, the app and the key that an event is about, and that of the sessions or the
/// connected apps of the user if it is about one of these. Deleted users and apps have none.
fn touched(event: &SecurityEvent, subjects: &EventSubjects) -> Vec<(Text<'static>, String)> {
    let user = event.user_id.filter(|id| subjects.emails.contains_key(id));
    let client = event.client_id.as_deref();
    let client = client.filter(|id| subjects.clients.contains_key(*id));
    let list = user.and_then(|id| list_of_user(event, id, client));
    let user = user.map(|id| (text::of("event-open-user"), paths::of_user(id)));
    let client = client.map(|id| (text::of("event-open-client"), paths::of_client(id)));
    let pages = user.into_iter().chain(client).chain(list);
    pages.chain(key(event)).collect()
}

/// Returns the page of the sessions or of the connected apps of this user, if the event is about one. The app
/// is this client.
fn list_of_user(event: &SecurityEvent, id: i64, client: Option<&str>) -> Option<(Text<'static>, String)> {
    let id = id.to_string();
    let of_user = ("user_id", id.as_str());
    match EventName::named(&event.name)? {
        EventName::LoginSuccess | EventName::Logout | EventName::SessionRevoked => {
            let path = paths::with_query(paths::ADMIN_SESSIONS, &[of_user]);
            Some((text::of("event-open-sessions"), path))
        }
        EventName::Consent | EventName::AccessRenewed | EventName::ConsentRevoked => {
            let of_client = client.map(|id| ("client_id", id));
            let selection: Vec<_> = [of_user].into_iter().chain(of_client).collect();
            let path = paths::with_query(paths::ADMIN_CONSENTS, &selection);
            Some((text::of("event-open-consents"), path))
        }
        _ => None,
    }
}

/// Returns the page of the keys, if the event is about them. It begins with the key that the event names.
fn key(event: &SecurityEvent) -> Option<(Text<'static>, String)> {
    let kid = event
        .detail
        .as_deref()
        .and_then(|detail| detail.strip_prefix(KEY_ID));
    let page = match kid {
        Some(kid) => format!("{}#{kid}", paths::with_query(paths::ADMIN_KEYS, &[("kid", kid)])),
        None => paths::ADMIN_KEYS.to_owned(),
    };
    let is_about_keys = event.name.starts_with(NAMES_OF_KEYS);
    is_about_keys.then(|| (text::of("event-open-keys"), page))
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
