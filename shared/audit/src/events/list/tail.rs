//! The events in the order in which they are recorded, for those who wait for new ones.

use super::{Filter, SecurityEvent, columns};
use std::collections::BTreeSet;
use storage::db::{Db, Error};
use storage::{fetch_all, fetch_optional, sql};

sql! {
    NEWEST = "SELECT id FROM security_events ORDER BY id DESC LIMIT 1";
    AFTER = concat!("SELECT ", columns!(), " FROM security_events WHERE id > $1 ORDER BY id LIMIT 700");
}

/// The number of ids that are read again: a transaction that got its id earlier may commit later.
const OVERLAP: i64 = 200;

/// A position in the order of the events.
#[derive(Debug)]
pub struct Tail {
    /// The id after which the tail began.
    begin: i64,
    /// The largest id that was read.
    last: i64,
    /// The ids that were read, as far as they are read again.
    seen: BTreeSet<i64>,
}

impl Tail {
    /// Begins after the event with this id, or else after the newest one.
    pub async fn begin(db: &Db, after: Option<i64>) -> Result<Self, Error> {
        let begin = match after {
            Some(id) => id,
            None => fetch_optional!(db.reader(), (i64,), NEWEST)?.map_or(0, |(id,)| id),
        };
        Ok(Self {
            begin,
            last: begin,
            seen: BTreeSet::new(),
        })
    }

    /// Returns the events that fit the condition and were recorded since the last call, the oldest first: those among the next 500.
    pub async fn read(&mut self, db: &Db, filter: &Filter) -> Result<Vec<SecurityEvent>, Error> {
        let after = self.begin.max(self.last - OVERLAP);
        let mut events = fetch_all!(db.reader(), SecurityEvent, AFTER, after)?;
        events.retain(|event| self.seen.insert(event.id));
        let newest = events.iter().map(|event| event.id).max();
        self.last = self.last.max(newest.unwrap_or(self.last));
        self.seen = self.seen.split_off(&(self.last - OVERLAP));
        events.retain(|event| filter.selects(event));
        Ok(events)
    }
}
