//! Sending what was queued. Any number of processes may do so at once: each mail is claimed by one of them, for as
//! long as sending may take; one that ends in the middle leaves the mail to the others after that.

use crate::mail::message::compose;
use crate::mail::transport::{Failure, Transport};
use crate::mail::{CLAIM, DELETE, DUE, Mails, PUT_OFF};
use foundation::clock;
use foundation::clock::Timestamp;
use lettre::message::Mailbox;
use std::sync::Arc;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{execute, fetch_all, fetch_optional};
use tokio::sync::Semaphore;

/// How often the table is looked at.
const POLL: Duration = Duration::from_millis(500);
/// Mails sent at once, so that one slow mailbox holds up few others.
const AT_ONCE: usize = 8;
/// Sending one is given up after this time,
const PATIENCE: Duration = Duration::from_secs(60);
/// and until this time nobody else tries.
const LEASE: Duration = Duration::from_secs(120);
/// The first pause after a failure; each one is twice the last,
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// A mail that is still here after this time is given up.
const KEPT: Duration = Duration::from_secs(3 * 86_400);

/// What sends mails.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Where they are queued.
    pub db: Db,
    /// What they were sealed by.
    pub mails: Mails,
    /// Where they go.
    pub transport: Transport,
    /// Whom they are from.
    pub from: Mailbox,
}

#[derive(sqlx::FromRow)]
struct Claimed {
    id: i64,
    sealed: Vec<u8>,
    created_at: Timestamp,
    attempts: i64,
}

impl Delivery {
    /// Sends for ever what is queued.
    pub async fn run(self) {
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            if let Err(error) = self.look(&slots).await {
                tracing::warn!(%error, "cannot look for mails to send");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Begins to send what is due, as far as there are slots. What is being sent is not due.
    async fn look(&self, slots: &Arc<Semaphore>) -> Result<(), Error> {
        for (id, due_at) in fetch_all!(self.db.reader(), (i64, Timestamp), DUE, clock::now())? {
            let slot = Arc::clone(slots).acquire_owned().await;
            let delivery = self.clone();
            tokio::spawn(async move {
                if let Err(error) = delivery.deliver(id, due_at).await {
                    tracing::warn!(%error, mail_id = id, "cannot note what became of a mail");
                }
                drop(slot);
            });
        }
        Ok(())
    }

    /// Claims one mail, unless somebody else did, and sends it.
    async fn deliver(&self, id: i64, due_at: Timestamp) -> Result<(), Error> {
        let lease = clock::now().after(LEASE);
        let claimed = fetch_optional!(self.db.writer(), Claimed, CLAIM, id, due_at, lease)?;
        let Some(claimed) = claimed else { return Ok(()) };
        let sent = tokio::time::timeout(PATIENCE, self.send(&claimed)).await;
        let sent = sent.unwrap_or(Err(Failure::Unreachable("no answer in time")));
        let now = clock::now();
        match sent {
            Ok(()) => execute!(self.db.writer(), DELETE, id, lease)?,
            Err(error) if now.since(claimed.created_at) >= KEPT => {
                tracing::error!(%error, mail_id = id, "a mail was given up after three days");
                execute!(self.db.writer(), DELETE, id, lease)?
            }
            Err(error) => {
                tracing::warn!(%error, mail_id = id, attempts = claimed.attempts, "a mail was not sent; it is tried again");
                let next = now.after(pause(claimed.attempts));
                execute!(self.db.writer(), PUT_OFF, id, lease, next)?
            }
        };
        Ok(())
    }

    async fn send(&self, claimed: &Claimed) -> Result<(), Failure> {
        let mail = self
            .mails
            .open(&claimed.sealed)
            .map_err(|_| Failure::Unsendable)?;
        let Some(to) = &mail.to else { return Ok(()) };
        let (id, at) = (claimed.id, claimed.created_at);
        let message = compose(&mail, to, &self.from, (id, at))?;
        // Of the time only digits, so that the name is one on every file system.
        let time = at.to_string().replace([':', '-'], "");
        self.transport.send(message, &format!("{time}-{id}")).await
    }
}

/// How long to wait after so many failures.
fn pause(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.clamp(1, 20) - 1).unwrap_or_default();
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_from_a_second_to_an_hour() {
        let seconds = |attempts| pause(attempts).as_secs();
        assert_eq!([1, 2, 3, 12].map(seconds), [1, 2, 4, 2048]);
        assert_eq!([13, 20, 1_000_000, i64::MAX].map(seconds), [3600; 4]);
    }
}
