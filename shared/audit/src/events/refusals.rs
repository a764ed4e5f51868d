//! The refusals of a time: its failed events, grouped by kind and cause.

use super::list::{self, Filter, Outcome, SecurityEvent};
use foundation::clock::Timestamp;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;
use storage::db::{Db, Error};
use utoipa::ToSchema;

/// The number of entries that are grouped, the newest ones.
pub const MAX_ENTRIES: usize = 1_000;
/// The number of groups that are returned, the largest ones.
pub const MAX_GROUPS: usize = 50;
/// The time of the refusals if the condition has no begin.
const DEFAULT_TIME: Duration = Duration::from_secs(24 * 3600);

/// The refusals of a time.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refusals {
    /// The newest refusal of each group, with the number of all of the group. The largest group comes first.
    /// The kind is the name of the event, and the cause is its detail.
    pub groups: Vec<SecurityEvent>,
    /// The number of smaller groups.
    pub further_groups: usize,
    /// Whether there may be older refusals, which are in no group.
    pub has_older: bool,
    /// The time from which events were searched, if the search ended before it found too many refusals.
    #[serde(skip)]
    pub searched_since: Option<Timestamp>,
}

/// Returns the condition on the refusals among the events that fulfil a condition. One without a begin is
/// about a day.
pub fn filter(events: &Filter, now: Timestamp) -> Filter {
    let end = events.until.unwrap_or(now);
    Filter {
        outcome: Some(Outcome::Failure),
        since: events.since.or_else(|| Some(end.before(DEFAULT_TIME))),
        ..events.clone()
    }
}

/// Returns the refusals that fulfil this condition. Fails if the database does.
pub async fn read(db: &Db, filter: &Filter) -> Result<Refusals, Error> {
    let (mut entries, end) = list::newest_searched(db, filter, MAX_ENTRIES + 1).await?;
    let has_too_many = entries.len() > MAX_ENTRIES;
    entries.truncate(MAX_ENTRIES);
    let mut groups = grouped(entries);
    let further_groups = groups.len().saturating_sub(MAX_GROUPS);
    groups.truncate(MAX_GROUPS);
    Ok(Refusals {
        groups,
        further_groups,
        has_older: has_too_many || end.is_some(),
        searched_since: end.filter(|_| !has_too_many),
    })
}

/// Returns the first entry of each kind and cause with the number of all of them, the largest number first.
fn grouped(newest_first: Vec<SecurityEvent>) -> Vec<SecurityEvent> {
    let mut groups: HashMap<(String, Option<String>), SecurityEvent> = HashMap::new();
    for entry in newest_first {
        let count = entry.count;
        groups
            .entry((entry.name.clone(), entry.detail.clone()))
            .and_modify(|newest| newest.count = newest.count.saturating_add(count))
            .or_insert(entry);
    }
    let mut groups: Vec<SecurityEvent> = groups.into_values().collect();
    groups.sort_by_key(|newest| Reverse((newest.count, newest.at, newest.id)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i64, name: &str, detail: Option<&str>, count: i64) -> SecurityEvent {
        SecurityEvent {
            id,
            at: Timestamp::from_micros(id),
            name: name.to_owned(),
            outcome: Outcome::Failure.as_str().to_owned(),
            user_id: None,
            client_id: None,
            administrator_id: None,
            address: None,
            trace_id: String::new(),
            detail: detail.map(str::to_owned),
            count,
        }
    }

    #[test]
    fn a_group_has_its_newest_refusal_and_the_number_of_all() {
        let entries = [
            entry(6, "a", None, 1),
            entry(5, "b", Some("x"), 1),
            entry(4, "a", None, 1),
            entry(3, "b", Some("y"), 7),
            entry(2, "b", Some("x"), 4),
            entry(1, "c", Some("x"), 2),
        ];
        let groups = grouped(entries.to_vec());
        let groups: Vec<_> = groups.iter().map(|newest| (newest.id, newest.count)).collect();
        assert_eq!(groups, [(3, 7), (5, 5), (6, 2), (1, 2)]);
    }

    #[test]
    fn without_a_begin_the_refusals_are_those_of_a_day() {
        let (now, day) = (Timestamp::from_micros(1_000_000_000_000), DEFAULT_TIME);
        let until = Some(now.before(day));
        let any = Filter::default();
        assert_eq!(filter(&any, now).since, Some(now.before(day)));
        assert_eq!(
            filter(&Filter { until, ..any.clone() }, now).since,
            Some(now.before(2 * day))
        );
        let since = Some(now.before(9 * day));
        let chosen = filter(&Filter { since, ..any }, now);
        assert_eq!((chosen.since, chosen.outcome), (since, Some(Outcome::Failure)));
    }
}
