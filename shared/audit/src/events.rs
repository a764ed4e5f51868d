//! Security events: each is written in the transaction of the change it reports, and logged after the commit.

pub mod list;
mod name;
pub mod pseudonyms;
mod recorder;
pub mod refusals;

pub use name::EventName;
pub use recorder::{EventRecorder, report_loss};

use crate::alerts::{self, AlertKind};
use crate::figures::{COUNTERS, Figure};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::{log, network};
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, fetch_one, sql};

/// The text of the statement that inserts an event. The stored event does not name a user or an administrator
/// whose account was deleted, and has no address if such an account made the request. `$lock` is a locking
/// clause for the rows of those users, or empty. The statement reads the table `users`, which another module
/// owns, so that an event takes one round trip.
macro_rules! insert {
    ($lock:literal) => {
        concat!(
            "WITH existing AS (SELECT id FROM users WHERE id IN ($4, $10) AND deleted_at IS NULL",
            $lock,
            ")
             INSERT INTO security_events
             (at, name, outcome, user_id, client_id, address, network, trace_id, detail, administrator_id, count)
             SELECT $1, $2, $3, (SELECT id FROM existing WHERE id = $4), $5,
                    CASE WHEN caller.is_nameable THEN $6 END, CASE WHEN caller.is_nameable THEN $7 END, $8, $9,
                    (SELECT id FROM existing WHERE id = $10), $11
             FROM (SELECT COALESCE($10, $4) IS NULL OR COALESCE($10, $4) IN (SELECT id FROM existing) AS is_nameable)
                 AS caller
             RETURNING user_id, administrator_id, address"
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("");
    // Waits for a transaction that deletes the account, which otherwise might not see the new event. Other
    // changes of users do not conflict with this lock.
    INSERT_POSTGRES = insert!(" FOR KEY SHARE");
    PRUNE = delete_expired!("security_events", "at");
}

/// An event to record, built from [`success`](Event::success) or [`failure`](Event::failure).
#[derive(Clone, Debug)]
pub struct Event {
    name: EventName,
    outcome: &'static str,
    user_id: Option<i64>,
    client_id: Option<String>,
    detail: Option<String>,
    /// The number of events of which this is the last.
    count: i64,
}

/// The columns of a stored event that identify persons. They are NULL for deleted accounts.
#[derive(Debug, sqlx::FromRow)]
struct NamedPersons {
    user_id: Option<i64>,
    administrator_id: Option<i64>,
    address: Option<String>,
}

impl Event {
    /// Creates an event with the outcome `success`.
    pub fn success(name: EventName) -> Self {
        Self {
            name,
            outcome: "success",
            user_id: None,
            client_id: None,
            detail: None,
            count: 1,
        }
    }

    /// Creates an event with the outcome `failure`.
    pub fn failure(name: EventName) -> Self {
        Self {
            outcome: "failure",
            ..Self::success(name)
        }
    }

    /// Sets the user that the event concerns.
    #[must_use]
    pub fn user(mut self, id: impl Into<Option<i64>>) -> Self {
        self.user_id = id.into();
        self
    }

    /// Sets the client that the event concerns.
    #[must_use]
    pub fn client(mut self, id: &str) -> Self {
        self.client_id = Some(id.to_owned());
        self
    }

    /// Sets the detail, which must not contain a secret.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Writes the event, and the alert it raises, in the caller's transaction. The event is logged after the
    /// commit. It names no deleted account, and has no address if such an account made the request.
    pub async fn record(mut self, tx: &mut Tx, context: &RequestContext) -> Result<(), Error> {
        let address = context.address.map(|address| address.to_string());
        let insert = tx.on().choose(INSERT_SQLITE, INSERT_POSTGRES);
        let named = fetch_one!(
            tx.on(),
            NamedPersons,
            insert,
            context.now,
            self.name.as_str(),
            self.outcome,
            self.user_id,
            self.client_id.as_deref(),
            address.as_deref(),
            context.address.map(network::of_address),
            context.trace_id.as_str(),
            self.detail.as_deref(),
            context.administrator.map(|administrator| administrator.user_id),
            self.count,
        )?;
        self.user_id = named.user_id;
        if let Some(kind) = self.name.alert() {
            let (client_id, detail) = (self.client_id.as_deref(), self.detail.as_deref());
            alerts::raise(tx, kind, self.user_id, client_id, detail, context).await?;
        }
        let trace_id = context.trace_id.clone();
        tx.after_commit(move || self.log(&named, &trace_id));
        Ok(())
    }

    /// Logs and counts the committed event.
    fn log(&self, named: &NamedPersons, trace_id: &str) {
        tracing::info!(
            target: log::SECURITY,
            event = self.name.as_str(),
            outcome = self.outcome,
            user_id = self.user_id,
            client_id = self.client_id,
            administrator_id = named.administrator_id,
            address = named.address,
            traceId = trace_id,
            detail = self.detail.as_deref().filter(|_| !self.name.has_personal_detail()),
            count = (self.count > 1).then_some(self.count),
        );
        let figure = match (self.name, self.name.alert()) {
            (EventName::LoginSuccess, _) => Figure::SignIns,
            (EventName::LoginFail, _) => Figure::FailedSignIns,
            (_, Some(AlertKind::RefreshReuse | AlertKind::CodeReuse)) => Figure::ReuseAlerts,
            _ => return,
        };
        COUNTERS.count(figure, u64::try_from(self.count).unwrap_or_default());
    }

    /// Writes the event in a transaction of its own, for events without another write to the database.
    pub async fn record_alone(self, db: &Db, context: &RequestContext) -> Result<(), Error> {
        let mut tx = db.begin().await?;
        self.record(&mut tx, context).await?;
        tx.commit().await
    }
}

/// Deletes the events that are older than `retention`, and returns their number.
pub async fn prune(db: &Db, retention: Duration, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(retention)).await
}
