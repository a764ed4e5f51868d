//! Writes that are done once, however often they are asked for: a key names the write, and the answer to it is
//! stored in the transaction of the write (draft-ietf-httpapi-idempotency-key-header).
//!
//! A write that fails stores nothing, so it can be tried again at once. Of several with one key at the same
//! time one is done and the others wait for it: in this process without a connection, and those of other
//! processes by looking again and again, so that no crowd of them keeps other writes from the database.

mod in_flight;
mod key;
mod stored;

pub(crate) use key::{Claim, Key, Owner};
pub(crate) use stored::{Reply, STATEMENTS, forget, prune};

use in_flight::{Entered, InFlight, Turn};
use shared::clock::Timestamp;
use shared::db::{self, Db, Tx};
use std::time::Duration;
use tokio::time::Instant;

/// How long a call waits for another with the same key.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long after a look at another process's write comes the next one.
const PAUSE: Duration = Duration::from_millis(20);

/// What does writes once. Cheap to clone; the clones share what is under way.
#[derive(Clone, Debug)]
pub(crate) struct Idempotency {
    db: Db,
    /// How long an answer is kept.
    lifetime: Duration,
    in_flight: InFlight,
}

/// What came of a write.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The answer.
    pub(crate) reply: Reply,
    /// Whether it is the stored one of an earlier call.
    pub(crate) is_replay: bool,
}

/// Why a write with a key was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The key came before, with another body.
    #[error("the idempotency key was used with another body")]
    Reused,
    /// The first call with the key is still being answered.
    #[error("the first call with this idempotency key is not done yet")]
    InProgress,
    /// The answer could not be written as JSON.
    #[error("the reply is not JSON: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// How a write with a key begins.
enum Begun {
    /// It was done before.
    Done(Reply),
    /// It is to be done, in this transaction.
    Due(Turn, Tx),
}

impl Idempotency {
    /// Does writes once in this database; what was answered is kept for `lifetime`.
    pub(crate) fn new(db: Db, lifetime: Duration) -> Self {
        Self {
            db,
            lifetime,
            in_flight: InFlight::default(),
        }
    }

    /// Does the write in a transaction of its own, and with it stores the answer under the key. Where the
    /// key has an answer already, gives that and does nothing. Without a claim simply does the write.
    pub(crate) async fn run<E: From<Error>>(
        &self,
        claim: Option<&Claim>,
        now: Timestamp,
        write: impl AsyncFnOnce(&mut Tx) -> Result<Reply, E>,
    ) -> Result<Outcome, E> {
        let (_turn, mut tx) = match claim {
            None => (None, self.db.begin().await.map_err(Error::from)?),
            Some(claim) => match self.begin(claim, now).await? {
                Begun::Due(turn, tx) => (Some(turn), tx),
                Begun::Done(reply) => {
                    return Ok(Outcome {
                        reply,
                        is_replay: true,
                    });
                }
            },
        };
        let reply = write(&mut tx).await?;
        if let Some(claim) = claim {
            let expires_at = now.after(self.lifetime);
            stored::save(&mut tx, claim, &reply, now, expires_at).await?;
        }
        tx.commit().await.map_err(Error::from)?;
        Ok(Outcome {
            reply,
            is_replay: false,
        })
    }

    /// Finds the answer, or waits until this call is the one to give it.
    async fn begin(&self, claim: &Claim, now: Timestamp) -> Result<Begun, Error> {
        let deadline = Instant::now() + PATIENCE;
        let mut has_waited = false;
        loop {
            if let Some(reply) = stored::find(self.db.reader(), claim, now).await? {
                return Ok(Begun::Done(reply));
            }
            let late = |_| Error::InProgress;
            match self.in_flight.enter(claim.id()) {
                Entered::First(turn) => {
                    let alone = self.begin_alone(claim, now, turn, deadline);
                    return match has_waited {
                        // The time that the database takes is part of this wait.
                        true => tokio::time::timeout_at(deadline, alone).await.map_err(late)?,
                        false => alone.await,
                    };
                }
                Entered::Behind(first) => {
                    tokio::time::timeout_at(deadline, first.ended())
                        .await
                        .map_err(late)?;
                    has_waited = true;
                }
            }
        }
    }

    /// The same for the only one of this process: another process may be at it.
    async fn begin_alone(
        &self,
        claim: &Claim,
        now: Timestamp,
        turn: Turn,
        deadline: Instant,
    ) -> Result<Begun, Error> {
        loop {
            let mut tx = self.db.begin().await?;
            if tx.try_lock(claim.number()).await? {
                // Whoever had the lock may have committed since the first look.
                return Ok(match stored::find(tx.on(), claim, now).await? {
                    Some(reply) => Begun::Done(reply),
                    None => Begun::Due(turn, tx),
                });
            }
            // Waits without a connection.
            drop(tx);
            if Instant::now() + PAUSE > deadline {
                return Err(Error::InProgress);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
