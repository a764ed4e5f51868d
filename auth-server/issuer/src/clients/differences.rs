//! The difference between two states of a client, for the history of its changes.

use audit::events::{Event, EventName};
use identity::clients::Client;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The largest number of characters of a value that are told.
const MAX_VALUE_LENGTH: usize = 200;

/// Returns the event of a change, whose detail has the members that differ, each with its former and its
/// present value as JSON. Of keys and secrets it has only the name.
pub(crate) fn event(former: &Client, present: &Client) -> Event {
    let event = Event::success(EventName::ClientUpdated).client(&present.id);
    match between(former, present) {
        differences if differences.is_empty() => event,
        differences => event.detail(differences),
    }
}

fn between(former: &Client, present: &Client) -> String {
    let [former, present] = [former, present].map(|client| serde_json::to_value(client).unwrap_or_default());
    let members = [&former, &present].into_iter().filter_map(Value::as_object);
    let names: BTreeSet<&String> = members.flat_map(Map::keys).collect();
    let changed = names.into_iter().filter_map(|name| {
        let [former, present] = [former.get(name), present.get(name)];
        (former != present).then(|| match name.as_str() {
            "jwks" | "secrets" => name.clone(),
            _ => format!("{name}: {} → {}", told(former), told(present)),
        })
    });
    changed.collect::<Vec<_>>().join("; ")
}

/// Returns the beginning of a value as JSON, which has no control character.
fn told(value: Option<&Value>) -> String {
    let text = value.unwrap_or(&Value::Null).to_string();
    let mut told: String = text.chars().take(MAX_VALUE_LENGTH).collect();
    if told.len() < text.len() {
        told.push('…');
    }
    told
}
