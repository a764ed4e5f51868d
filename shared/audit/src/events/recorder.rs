//! The recorder of events that a client can cause in any number, such as refused requests. It writes the
//! first event of a kind at once, and counts the others of the same minute in memory: they become one row
//! with their number when the minute has ended, or when the process stops. A process that is killed loses the
//! counts of its last minute, and no first event.

mod counts;

use super::{Event, EventName};
use counts::{Counts, Kind, Repetitions};
use foundation::clock;
use foundation::context::RequestContext;
use foundation::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use storage::db::{Db, Error, Tx};

/// The time between two searches for minutes that have ended.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Writes events, and counts those that repeat within a minute. Clones share the counts.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    db: Db,
    counts: Arc<Mutex<Counts>>,
}

impl EventRecorder {
    /// Creates a recorder without counts.
    pub fn new(db: Db) -> Self {
        Self {
            db,
            counts: Arc::default(),
        }
    }

    /// Writes the event in a transaction of its own. If a client can cause any number of such events, only
    /// the first of its kind in a minute is written, and the others are counted. Events of one kind have the
    /// same name, outcome, route, user, client and `subject`, and the same network if they have no user or
    /// are failed sign-ins. A caller whose response must not reveal whether there is a user passes a
    /// `subject` that distinguishes unknown ones too; the failed sign-ins of a network are written at once
    /// for the first few subjects of a minute only. If 10,000 different ones are counted, others are counted
    /// by name, route and user only. An event that cannot be written is reported in the log only, because the
    /// request is refused in either case.
    pub async fn record(&self, event: Event, subject: &str, context: &RequestContext) {
        let name = event.name;
        let recorded = self.write_or_count(event, subject, context).await;
        report_loss(name, recorded);
    }

    async fn write_or_count(
        &self,
        event: Event,
        subject: &str,
        context: &RequestContext,
    ) -> Result<(), Error> {
        if !event.name.is_counted() {
            return event.record_alone(&self.db, context).await;
        }
        let kind = Kind::new(&event, subject, context);
        let first = lock(&self.counts).add(kind, &event, context);
        let Some(kind) = first else { return Ok(()) };
        let written = event.record_alone(&self.db, context).await;
        if written.is_err() {
            lock(&self.counts).forget(&kind);
        }
        written
    }

    /// Writes the event in the caller's transaction, or counts it if it is not the first of its kind in this
    /// minute, as [`record`](Self::record) does. For events that a client can cause in any number, by
    /// requests that have an effect. An event that is counted stays so if the transaction is rolled back.
    /// Fails if the database does.
    pub async fn record_in(&self, tx: &mut Tx, event: Event, context: &RequestContext) -> Result<(), Error> {
        let kind = Kind::new(&event, "", context);
        let first = lock(&self.counts).add(kind, &event, context);
        let Some(kind) = first else { return Ok(()) };
        let written = event.record(tx, context).await;
        if written.is_err() {
            lock(&self.counts).forget(&kind);
        }
        written
    }

    /// Writes the counts of minutes that have ended, until the task is aborted.
    pub async fn follow(self) {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let ended = lock(&self.counts).take_ended(clock::now());
            self.write_counts(ended).await;
        }
    }

    /// Writes all counts. Called when the process stops.
    pub async fn finish(&self) {
        let all = lock(&self.counts).take_all();
        self.write_counts(all).await;
    }

    async fn write_counts(&self, counts: Vec<Repetitions>) {
        for repetitions in counts {
            let count = repetitions.count();
            if let Err(error) = repetitions.write(&self.db).await {
                tracing::warn!(%error, count, "counted security events were not written");
            }
        }
    }
}

/// Reports in the log that an event of a refusal was not written, if it was not. The refusal stands
/// nevertheless.
pub fn report_loss(name: EventName, recorded: Result<(), Error>) {
    if let Err(error) = recorded {
        tracing::error!(event = name.as_str(), %error, "a security event is lost");
    }
}
