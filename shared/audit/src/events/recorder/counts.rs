//! The counts of events by kind and minute.

use crate::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use storage::db::{Db, Error};

/// The number of kinds from which new ones are counted without client, subject and network. Otherwise
/// somebody with many networks could cause a commit by each request.
const CAPACITY: usize = 10_000;
/// The number of kinds from which new ones are counted without user too. Those that remain differ by name,
/// route and minute only, so they are few.
const CAPACITY_WITH_USERS: usize = 2 * CAPACITY;
/// The number of subjects of failed sign-ins from one network that are told apart in a minute. Otherwise each
/// made-up address would cause a row and a commit.
const SUBJECTS_PER_NETWORK: u32 = 5;

/// The counts of all kinds.
#[derive(Debug, Default)]
pub(super) struct Counts {
    repetitions: HashMap<Kind, Repetitions>,
    /// The number of kinds of failed sign-ins by network and minute.
    failed_sign_ins: HashMap<(String, i64), u32>,
}

/// The properties by which events are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    name: EventName,
    outcome: &'static str,
    route: String,
    user_id: Option<i64>,
    client_id: Option<String>,
    /// The subject of the event; `None` for the failed sign-ins of a network beyond [`SUBJECTS_PER_NETWORK`],
    /// and beyond [`CAPACITY`].
    subject: Option<String>,
    /// Empty beyond [`CAPACITY`], and for a known user, who may use many networks. Failed sign-ins are told
    /// apart by network, because alerts count it.
    network: String,
    /// The minutes since 1970 UTC.
    minute: i64,
}

/// The events of one kind that are written when the minute has ended.
#[derive(Debug)]
pub(super) struct Repetitions {
    count: i64,
    /// The last event, or the first one if there was no other.
    last: Event,
    context: RequestContext,
}

impl Kind {
    pub(super) fn new(event: &Event, subject: &str, context: &RequestContext) -> Self {
        Self {
            name: event.name,
            outcome: event.outcome,
            route: context.route().to_owned(),
            user_id: event.user_id,
            client_id: event.client_id.clone(),
            subject: Some(subject.to_owned()),
            network: match event.user_id {
                Some(_) if event.name != EventName::LoginFail => String::new(),
                _ => context.network(),
            },
            minute: minute_of(context.now),
        }
    }

    /// Returns the kind with which events of this one are counted when this many kinds are known.
    fn beyond(self, known: usize) -> Self {
        Self {
            user_id: self.user_id.filter(|_| known < CAPACITY_WITH_USERS),
            client_id: None,
            subject: None,
            network: String::new(),
            ..self
        }
    }
}

impl Counts {
    /// Counts an event. Returns its kind if it is the first one, which the caller writes at once. A failed
    /// sign-in is counted without its subject, and never written at once, if the network has failed with many
    /// other subjects in this minute. Those of a user are still counted by the user, because alerts need
    /// them. A client cannot tell the difference. Any event is counted without what tells it apart, and never
    /// written at once, if there are very many kinds.
    pub(super) fn add(&mut self, mut kind: Kind, event: &Event, context: &RequestContext) -> Option<Kind> {
        if !self.repetitions.contains_key(&kind) && self.has_many_subjects(&kind) {
            kind.subject = None;
        }
        let known = self.repetitions.len();
        let is_beyond = known >= CAPACITY && !self.repetitions.contains_key(&kind);
        if is_beyond {
            kind = kind.beyond(known);
        }
        let last = || match is_beyond {
            true => without_origin(&kind, event, context),
            false => (event.clone(), context.clone()),
        };
        match self.repetitions.entry(kind.clone()) {
            Entry::Occupied(mut entry) => {
                let repetitions = entry.get_mut();
                repetitions.count += 1;
                (repetitions.last, repetitions.context) = last();
                None
            }
            Entry::Vacant(entry) => {
                let (last, context) = last();
                entry.insert(Repetitions {
                    count: i64::from(kind.subject.is_none()),
                    last,
                    context,
                });
                if kind.name == EventName::LoginFail {
                    let key = (kind.network.clone(), kind.minute);
                    *self.failed_sign_ins.entry(key).or_default() += 1;
                }
                kind.subject.is_some().then_some(kind)
            }
        }
    }

    /// Whether the event of a new kind is a failed sign-in from a network with as many others as are told
    /// apart.
    fn has_many_subjects(&self, kind: &Kind) -> bool {
        let key = (kind.network.clone(), kind.minute);
        kind.name == EventName::LoginFail
            && self
                .failed_sign_ins
                .get(&key)
                .is_some_and(|kinds| *kinds >= SUBJECTS_PER_NETWORK)
    }

    /// Forgets a kind whose first event was not written, so that its next event is the first one.
    pub(super) fn forget(&mut self, kind: &Kind) {
        self.repetitions.remove(kind);
    }

    /// Removes and returns the counts of the minutes that are not that of `now`.
    pub(super) fn take_ended(&mut self, now: Timestamp) -> Vec<Repetitions> {
        let minute = minute_of(now);
        self.failed_sign_ins.retain(|(_, of), _| *of == minute);
        let ended = self.repetitions.extract_if(|kind, _| kind.minute != minute);
        ended.map(|(_, repetitions)| repetitions).collect()
    }

    /// Removes and returns all counts.
    pub(super) fn take_all(&mut self) -> Vec<Repetitions> {
        self.repetitions
            .drain()
            .map(|(_, repetitions)| repetitions)
            .collect()
    }
}

impl Repetitions {
    /// Returns the number of events.
    pub(super) const fn count(&self) -> i64 {
        self.count
    }

    /// Writes the number of events, if there are any, with the time and trace id of the last one.
    pub(super) async fn write(self, db: &Db) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let event = Event {
            count: self.count,
            ..self.last
        };
        event.record_alone(db, &self.context).await
    }
}

/// Returns an event and its context without what its kind does not tell apart.
fn without_origin(kind: &Kind, event: &Event, context: &RequestContext) -> (Event, RequestContext) {
    let event = Event {
        user_id: kind.user_id,
        client_id: None,
        detail: None,
        ..event.clone()
    };
    let context = RequestContext {
        address: None,
        user_agent: None,
        administrator: None,
        ..context.clone()
    };
    (event, context)
}

/// Returns the minutes since 1970 UTC.
fn minute_of(time: Timestamp) -> i64 {
    time.seconds() / 60
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    /// The context of a request from the network with this number.
    fn context(network: usize) -> RequestContext {
        let address = Ipv4Addr::from_bits(u32::try_from(network).unwrap());
        RequestContext {
            address: Some(IpAddr::V4(address)),
            ..RequestContext::without_request()
        }
    }

    /// Counts a refused request of a user from a network. Returns whether it is to be written at once.
    fn add(counts: &mut Counts, user_id: Option<i64>, network: usize) -> bool {
        let event = Event {
            user_id,
            ..Event::failure(EventName::CsrfFail).client("an app")
        };
        let context = RequestContext {
            now: Timestamp::from_micros(0),
            ..context(network)
        };
        let kind = Kind::new(&event, "a subject", &context);
        counts.add(kind, &event, &context).is_some()
    }

    #[test]
    fn events_beyond_the_capacity_are_counted_by_name_and_user() {
        let mut counts = Counts::default();
        for network in 0..CAPACITY {
            assert!(add(&mut counts, None, network), "the first event of {network}");
        }
        for network in CAPACITY..CAPACITY + 100 {
            for user_id in [None, Some(1), Some(2)] {
                assert!(!add(&mut counts, user_id, network), "{network}");
            }
        }
        // A known kind is counted as before.
        assert!(!add(&mut counts, None, 7));
        let mut folded = counts.take_all();
        folded.retain(|repetitions| repetitions.count > 0);
        folded.sort_by_key(|repetitions| (repetitions.context.address, repetitions.last.user_id));
        let folded = folded.iter().map(|repetitions| {
            let (last, address) = (&repetitions.last, repetitions.context.address);
            (
                last.user_id,
                last.client_id.is_some(),
                address.is_some(),
                repetitions.count,
            )
        });
        let expected = [
            (None, false, false, 100),
            (Some(1), false, false, 100),
            (Some(2), false, false, 100),
            (None, true, true, 1),
        ];
        assert_eq!(folded.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_number_of_kinds_is_bounded() {
        let mut counts = Counts::default();
        for user_id in 0..3 * CAPACITY {
            let is_first = add(&mut counts, i64::try_from(user_id).ok(), user_id);
            assert_eq!(is_first, user_id < CAPACITY, "{user_id}");
        }
        assert_eq!(counts.repetitions.len(), CAPACITY_WITH_USERS + 1);
        let all: i64 = counts.take_all().iter().map(Repetitions::count).sum();
        assert_eq!(all, 2 * i64::try_from(CAPACITY).unwrap());
    }
}
