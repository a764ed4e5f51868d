//! The events in the order in which they are recorded, for those who wait for new ones.

use super::{Filter, SecurityEvent, columns};
use std::collections::BTreeSet;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};

sql! {
    NEWEST = "SELECT id FROM security_events ORDER BY id DESC LIMIT 200";
    AFTER = concat!("SELECT ", columns!(), " FROM security_events WHERE id > $1 ORDER BY id LIMIT 700");
}

/// The time between two reads of a tail.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The limit in the statement `AFTER`.
const LIMIT: usize = 700;
/// The number of ids that are read again: a transaction that got its id earlier may commit later. It is the
/// limit in the statement `NEWEST`, too.
const OVERLAP: i64 = 200;

/// A position in the order of the events.
#[derive(Debug)]
pub struct Tail {
    /// The id after which the tail begins.
    begin: i64,
    /// The largest id that was read.
    last: i64,
    /// The ids within the overlap that were read, so that none comes twice.
    seen: BTreeSet<i64>,
}

impl Tail {
    /// Begins with the events that no transaction has committed yet.
    pub async fn of_new(db: &Db) -> Result<Self, Error> {
        let newest = fetch_all!(db.reader(), (i64,), NEWEST)?;
        let seen: BTreeSet<i64> = newest.into_iter().map(|(id,)| id).collect();
        let last = seen.last().copied().unwrap_or_default();
        Ok(Self {
            begin: last.saturating_sub(OVERLAP).max(0),
            last,
            seen,
        })
    }

    /// Begins after the event with this id.
    pub fn after(begin: i64) -> Self {
        Self {
            begin,
            last: begin,
            seen: BTreeSet::new(),
        }
    }

    /// Goes on at the position `last` of another tail that began after the event with the id `begin`. The
    /// events within the overlap come again, because the other tail may have missed one among them.
    pub fn resumed(begin: i64, last: i64) -> Self {
        Self {
            last: last.max(begin),
            ..Self::after(begin)
        }
    }

    /// Returns the position: the largest id that was read.
    pub fn position(&self) -> i64 {
        self.last
    }

    /// Returns the ids up to the position, within the overlap, that were not read: their transactions may
    /// still commit.
    pub fn missing(&self) -> Vec<i64> {
        let ids = self.begin.max(self.last.saturating_sub(OVERLAP)) + 1..=self.last;
        ids.filter(|id| !self.seen.contains(id)).collect()
    }

    /// Reads at most 500 new events, and returns those that fit the condition, the oldest first, and whether
    /// there may be more.
    pub async fn read(&mut self, db: &Db, filter: &Filter) -> Result<(Vec<SecurityEvent>, bool), Error> {
        let after = self.begin.max(self.last.saturating_sub(OVERLAP));
        let mut events = fetch_all!(db.reader(), SecurityEvent, AFTER, after)?;
        let is_full = events.len() == LIMIT;
        events.retain(|event| self.seen.insert(event.id));
        let newest = events.iter().map(|event| event.id).max();
        self.last = self.last.max(newest.unwrap_or(self.last));
        self.seen = self.seen.split_off(&self.last.saturating_sub(OVERLAP));
        events.retain(|event| filter.selects(event));
        Ok((events, is_full))
    }
}
