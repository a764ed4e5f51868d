//! Writes with an idempotency key (draft-ietf-httpapi-idempotency-key-header): the key identifies the write,
//! and the receipt of the write is stored under the key in the write's own transaction. A repeated call gets
//! the stored receipt. With the request, which is the same, it makes the same response, so the texts of the
//! request are not stored a second time.
//!
//! A failed write stores nothing, so it can be retried at once. If several calls with one key run
//! concurrently, one of them executes the write and the others wait for it: in memory if they are in the same
//! process, otherwise by polling an advisory lock. No call holds a database connection while it waits.

mod error;
mod in_flight;
mod key;
pub(crate) mod stored;

pub use error::Error;
pub use key::{Claim, KeyScope, KeyValue};
pub use stored::{delete_of_user, prune};

use foundation::clock::Timestamp;
use in_flight::{InFlight, InFlightGuard};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use storage::db::{Db, Tx, WriteTarget};
use tokio::time::Instant;

/// The maximum wait for another call with the same key.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// The pause between two attempts to take the lock that a call of another process holds.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Executes writes so that at most one succeeds per key. Clones share the list of running writes.
#[derive(Clone, Debug)]
pub struct Idempotency {
    db: Db,
    /// The time for which a receipt is kept.
    lifetime: Duration,
    in_flight: InFlight,
}

/// The outcome of a write.
#[derive(Debug)]
pub struct Outcome<R> {
    /// The receipt of the write.
    pub receipt: R,
    /// Whether the receipt is the stored one of an earlier call.
    pub is_replay: bool,
}

/// The next step of a call with a key.
enum Action<R> {
    /// Return the stored receipt.
    Replay(R),
    /// Execute the write in this transaction and keep the guard until the commit.
    Execute(InFlightGuard, Tx),
}

impl Idempotency {
    /// Returns an executor of writes in this database, which stores each receipt for `lifetime`.
    pub fn new(db: Db, lifetime: Duration) -> Self {
        Self {
            db,
            lifetime,
            in_flight: InFlight::default(),
        }
    }

    /// Executes the write in a new transaction and stores its receipt under the claim's key in the same
    /// transaction. If the key has a stored receipt, returns that one and does not execute the write. Without
    /// a claim the write is executed unconditionally and without a transaction, so it must then be a single
    /// statement.
    ///
    /// Fails with [`Error::KeyReused`] if the key was used with another body, with [`Error::InProgress`] if
    /// another call with the key does not end within five seconds, with [`Error::Refused`] if the authority
    /// of the claim has ended or its user would store more than the quota, and with the error of the write if
    /// the write fails.
    pub async fn run<R: Serialize + DeserializeOwned, W: Into<E>, E: From<Error>>(
        &self,
        claim: Option<&Claim>,
        now: Timestamp,
        write: impl AsyncFnOnce(&mut WriteTarget<'_>, Timestamp) -> Result<R, W>,
    ) -> Result<Outcome<R>, E> {
        let executed = |receipt| Outcome {
            receipt,
            is_replay: false,
        };
        let Some(claim) = claim else {
            let written = write(&mut WriteTarget::Db(&self.db), now).await;
            return written.map(executed).map_err(Into::into);
        };
        let (_guard, mut tx) = match self.begin(claim, now).await? {
            Action::Execute(guard, tx) => (guard, tx),
            Action::Replay(receipt) => {
                return Ok(Outcome {
                    receipt,
                    is_replay: true,
                });
            }
        };
        let written = write(&mut WriteTarget::Tx(&mut tx), now).await;
        let receipt = written.map_err(Into::<E>::into)?;
        let expires_at = now.after(self.lifetime);
        stored::save(&mut tx, claim, &receipt, now, expires_at).await?;
        tx.commit().await.map_err(Error::from)?;
        Ok(executed(receipt))
    }

    /// Returns the stored receipt, or waits until this call may execute the write. Fails with
    /// [`Error::InProgress`] if that takes longer than [`MAX_WAIT`].
    async fn begin<R: DeserializeOwned>(&self, claim: &Claim, now: Timestamp) -> Result<Action<R>, Error> {
        let deadline = Instant::now() + MAX_WAIT;
        let mut has_waited = false;
        loop {
            if let Some(receipt) = stored::find(self.db.reader(), claim, now).await? {
                return Ok(Action::Replay(receipt));
            }
            let timed_out = |_| Error::InProgress;
            match self.in_flight.register(claim.id()) {
                Ok(guard) => {
                    let locked = self.lock(claim, now, guard, deadline);
                    return match has_waited {
                        // After a wait, the time that the database takes counts against the deadline too.
                        true => tokio::time::timeout_at(deadline, locked)
                            .await
                            .map_err(timed_out)?,
                        false => locked.await,
                    };
                }
                Err(running) => {
                    tokio::time::timeout_at(deadline, running.finished())
                        .await
                        .map_err(timed_out)?;
                    has_waited = true;
                }
            }
        }
    }

    /// Begins the transaction of the write and takes the advisory lock that excludes calls of other processes
    /// with the same key. Returns the stored receipt if one of those calls has executed the write. Fails with
    /// [`Error::InProgress`] at the deadline.
    async fn lock<R: DeserializeOwned>(
        &self,
        claim: &Claim,
        now: Timestamp,
        guard: InFlightGuard,
        deadline: Instant,
    ) -> Result<Action<R>, Error> {
        loop {
            let mut tx = self.db.begin().await?;
            if tx.try_lock(claim.lock_number()).await? {
                // The previous holder of the lock may have committed since `begin` looked for a stored
                // receipt.
                return Ok(match stored::find(tx.on(), claim, now).await? {
                    Some(receipt) => Action::Replay(receipt),
                    None => Action::Execute(guard, tx),
                });
            }
            // Return the connection to the pool before the pause.
            drop(tx);
            if Instant::now() + POLL_INTERVAL > deadline {
                return Err(Error::InProgress);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
