//! Delivery of the queued mails.

use crate::message::compose;
use crate::queue::Mails;
use crate::transport::{SendError, Transport};
use foundation::clock::Timestamp;
use lettre::message::Mailbox;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::outbox::{self, Due, Failure, Outbox};
use storage::{execute, fetch_all, fetch_optional, sql};

sql! {
    DUE = "SELECT id, due_at FROM mails WHERE due_at <= $1 ORDER BY due_at, id LIMIT 50";
    CLAIM = "UPDATE mails SET due_at = $3, attempts = attempts + 1 WHERE id = $1 AND due_at = $2
             RETURNING id, sealed, created_at, due_at, attempts";
    DELETE = "DELETE FROM mails WHERE id = $1 AND due_at = $2";
    POSTPONE = "UPDATE mails SET due_at = $3 WHERE id = $1 AND due_at = $2";
}

/// The task that sends queued mails.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The database with the queue.
    pub db: Db,
    /// The queue, which unseals the mails.
    pub mails: Mails,
    /// The SMTP server or the directory that receives the mails.
    pub transport: Transport,
    /// The sender of every mail.
    pub from: Mailbox,
}

/// A claimed mail.
#[derive(sqlx::FromRow)]
pub struct ClaimedMail {
    id: i64,
    sealed: Vec<u8>,
    created_at: Timestamp,
    /// The end of the lease. A row with another value was claimed by another process.
    due_at: Timestamp,
    attempts: i64,
}

impl Delivery {
    async fn send_mail(&self, claimed: &ClaimedMail) -> Result<(), SendError> {
        let mail = self
            .mails
            .open(&claimed.sealed)
            .map_err(|_| SendError::Unsendable)?;
        let Some(to) = &mail.to else { return Ok(()) };
        let (id, at) = (claimed.id, claimed.created_at);
        let message = compose(&mail, to, &self.from, (id, at))?;
        // Some file systems do not allow a colon in a file name.
        let time = at.to_string().replace([':', '-'], "");
        self.transport.send(message, &format!("{time}-{id}")).await
    }
}

impl Outbox for Delivery {
    const ITEM: &'static str = "mail";
    const POLL_INTERVAL: Duration = Duration::from_millis(500);
    /// More than one, so that a slow mail server delays few mails.
    const CONCURRENCY: usize = 8;
    const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);
    const LEASE: Duration = Duration::from_secs(120);

    type Claimed = ClaimedMail;

    async fn due(&self, now: Timestamp) -> Result<Vec<Due>, Error> {
        fetch_all!(self.db.reader(), Due, DUE, now)
    }

    async fn claim(&self, due: Due, lease_end: Timestamp) -> Result<Option<ClaimedMail>, Error> {
        let on = self.db.writer();
        fetch_optional!(on, ClaimedMail, CLAIM, due.id, due.due_at, lease_end)
    }

    async fn send(&self, claimed: &ClaimedMail) -> Result<(), Failure> {
        let sent = self.send_mail(claimed).await;
        sent.map_err(|error| error.to_string().into())
    }

    async fn record_success(&self, claimed: &ClaimedMail, _now: Timestamp) -> Result<(), Error> {
        execute!(self.db.writer(), DELETE, claimed.id, claimed.due_at).map(|_| ())
    }

    /// Gives up the mail if it is older than [`GIVE_UP_AFTER`](outbox::GIVE_UP_AFTER).
    async fn record_failure(
        &self,
        claimed: &ClaimedMail,
        failure: &Failure,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (&ClaimedMail { id, attempts, .. }, error) = (claimed, &failure.reason);
        if now.since(claimed.created_at) >= outbox::GIVE_UP_AFTER {
            tracing::error!(
                error,
                mail_id = id,
                attempts,
                "a mail was given up after three days"
            );
            return execute!(self.db.writer(), DELETE, id, claimed.due_at).map(|_| ());
        }
        tracing::warn!(
            error,
            mail_id = id,
            attempts,
            "a mail was not sent and will be retried"
        );
        let next = now.after(outbox::backoff(attempts));
        execute!(self.db.writer(), POSTPONE, id, claimed.due_at, next).map(|_| ())
    }
}
