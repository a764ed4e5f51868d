//! The recorder of refused requests, which anybody can send in any number. It writes the first event of a kind at once,
//! and counts the others of the same minute in memory: they become one row with their number when the minute has ended,
//! or when the process stops. A process that is killed loses the counts of its last minute, and no first event.

use super::{Event, EventName};
use foundation::clock::{self, Timestamp};
use foundation::context::RequestContext;
use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use storage::db::{Db, Error};

/// The largest number of kinds that are counted at once. The events of further kinds are written one by one.
const CAPACITY: usize = 10_000;
/// The time between two searches for minutes that have ended.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Records events outside the transaction of another change. Clones share the counts.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    db: Db,
    counts: Arc<Mutex<HashMap<Kind, Repetitions>>>,
}

/// The properties by which events are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    name: EventName,
    user_id: Option<i64>,
    subject: String,
    network: String,
}

/// The events of one kind and minute after the first one.
#[derive(Debug)]
struct Repetitions {
    minute: i64,
    count: i64,
    /// The last event, or the first one if there was no other.
    last: Event,
    context: RequestContext,
}

impl EventRecorder {
    /// Creates a recorder without counts.
    pub fn new(db: Db) -> Self {
        Self {
            db,
            counts: Arc::default(),
        }
    }

    /// Writes the event in a transaction of its own, or counts it if anybody can cause it without credentials and it is
    /// not the first of its name, user, `subject` and network in this minute. A caller whose response must not reveal
    /// whether there is a user passes a `subject` that distinguishes unknown ones too. An event that cannot be written is
    /// reported in the log only, because the request is refused in either case.
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
        if !event.name.needs_no_credentials() {
            return event.record_alone(&self.db, context).await;
        }
        let kind = Kind {
            name: event.name,
            user_id: event.user_id,
            subject: subject.to_owned(),
            network: context.network(),
        };
        let minute = minute_of(context.now);
        let former = {
            let mut counts = lock(&self.counts);
            let is_full = counts.len() >= CAPACITY;
            match counts.get_mut(&kind) {
                Some(repetitions) if repetitions.minute == minute => {
                    repetitions.count += 1;
                    repetitions.last = event;
                    repetitions.context = context.clone();
                    return Ok(());
                }
                None if is_full => None,
                _ => {
                    let repetitions = Repetitions {
                        minute,
                        count: 0,
                        last: event.clone(),
                        context: context.clone(),
                    };
                    counts.insert(kind.clone(), repetitions)
                }
            }
        };
        let written = async {
            if let Some(former) = former {
                former.write(&self.db).await?;
            }
            event.record_alone(&self.db, context).await
        };
        let written = written.await;
        if written.is_err() {
            // The next event of this kind is the first one.
            lock(&self.counts).remove(&kind);
        }
        written
    }

    /// Writes the counts of minutes that have ended, until the task is aborted.
    pub async fn follow(self) {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let minute = minute_of(clock::now());
            self.write_counts(|repetitions| repetitions.minute != minute)
                .await;
        }
    }

    /// Writes all counts. Called when the process stops.
    pub async fn finish(&self) {
        self.write_counts(|_| true).await;
    }

    /// Removes the counts that fulfil the condition and writes them.
    async fn write_counts(&self, has_ended: impl Fn(&Repetitions) -> bool) {
        let ended: Vec<Repetitions> = {
            let mut counts = lock(&self.counts);
            let ended = counts.extract_if(|_, repetitions| has_ended(repetitions));
            ended.map(|(_, repetitions)| repetitions).collect()
        };
        for repetitions in ended {
            let count = repetitions.count;
            if let Err(error) = repetitions.write(&self.db).await {
                tracing::warn!(%error, count, "counted security events were not written");
            }
        }
    }
}

impl Repetitions {
    /// Writes the number of events, if there are any, with the time and trace id of the last one.
    async fn write(self, db: &Db) -> Result<(), Error> {
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

/// Reports in the log that an event of a refusal was not written, if it was not. The refusal stands nevertheless.
pub fn report_loss(name: EventName, recorded: Result<(), Error>) {
    if let Err(error) = recorded {
        tracing::error!(event = name.as_str(), %error, "a security event is lost");
    }
}

/// Returns the minutes since the epoch.
fn minute_of(time: Timestamp) -> i64 {
    time.seconds() / 60
}
