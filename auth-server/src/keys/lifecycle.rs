//! What changes signing keys: one transaction each, which at most one of several at once wins.

use super::signing::{self, Draft};
use super::table::{self, Key, State, in_state};
use super::{Error, keyring};
use serde::Serialize;
use shared::clock::{self, Timestamp};
use shared::db::{self, Db};
use shared::events::Context;
use shared::feed::{Feed, Word};
use shared::revocation;
use shared::seal::SealingKey;
use std::time::Duration;

/// How often a compromised key's end is tried anew when the keys changed meanwhile.
const ATTEMPTS: usize = 10;

/// The stored keys, and what it takes to change them: what commands and a running issuer share.
#[derive(Clone, Debug)]
pub(crate) struct KeyStore {
    pub(crate) db: Db,
    pub(crate) master_key: SealingKey,
    /// Size of new keys.
    pub(crate) bits: u32,
    /// How long the JWKS may be cached.
    pub(crate) max_age: Duration,
    pub(crate) feed: Feed,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Done {
    /// The staged key signs, the key named is retired.
    Rotated,
    /// Somebody else's rotation came first.
    Overtaken,
    /// The key's last token was dead.
    Deleted,
    /// The key was compromised, and none of its tokens is accepted.
    Discarded,
}

/// A change, and the keys as they stand after it.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) done: Done,
    /// The key that it was about; none if a rotation found no active one.
    pub(crate) kid: Option<String>,
    /// The key that signs.
    pub(crate) active: Option<String>,
    /// The key that stands ready.
    pub(crate) staged: Option<String>,
    /// Where no key signs: from when on one does.
    pub(crate) signs_again_at: Option<Timestamp>,
}

/// What is to be done with the keys by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chore {
    /// No key stands ready.
    Stage,
    /// No key signs, and the staged one may.
    Activate(String),
    /// The active key has signed for its lifetime.
    Rotate { active: String, staged: String },
    /// This retired key's last token is dead.
    Delete(String),
}

impl KeyStore {
    /// Retires the active key; the staged one signs from now on, and a new one is staged.
    pub(crate) async fn rotate(&self) -> Result<Change, Error> {
        let keys = table::live(&self.db).await?;
        let active = in_state(&keys, State::Active).map(|key| key.kid.as_str());
        let staged = in_state(&keys, State::Staged).ok_or(Error::NoneStaged)?;
        if staged.sign_after > clock::now() {
            return Err(Error::NotRipe {
                kid: staged.kid.clone(),
                until: staged.sign_after,
            });
        }
        let draft = self.draft(&keys).await?;
        let won = self.promote(active, &staged.kid, &draft).await?;
        self.tell(if won { Done::Rotated } else { Done::Overtaken }, active)
            .await
    }

    /// Retires the active key, or deletes a retired one whose last token is dead.
    pub(crate) async fn retire(&self, kid: &str) -> Result<Change, Error> {
        let key = self.find(kid).await?;
        match (key.state, key.dead_after) {
            (State::Active, _) => self.rotate().await,
            (State::Retired, Some(until)) if until > clock::now() => {
                Err(Error::NotDead { kid: key.kid, until })
            }
            (State::Retired, _) => {
                let deleted = self.delete(kid).await?;
                self.tell(if deleted { Done::Deleted } else { Done::Overtaken }, Some(kid))
                    .await
            }
            (State::Staged | State::Deleted, _) => Err(Error::Staged(key.kid)),
        }
    }

    /// Throws a compromised key away at once, with every token it signed. If it was the active one, the
    /// staged one signs from now on, or as soon as it may.
    pub(crate) async fn discard(&self, kid: &str) -> Result<Change, Error> {
        for _ in 0..ATTEMPTS {
            let key = self.find(kid).await?;
            let keys = table::live(&self.db).await?;
            let draft = self.draft(&keys).await?;
            if self.throw_away(&key, &keys, &draft).await? {
                self.feed.say(Word::Revoked).await;
                return self.tell(Done::Discarded, Some(kid)).await;
            }
        }
        Err(Error::Contended)
    }

    /// Does what is due by itself, unless somebody else was faster.
    pub(super) async fn perform(&self, chore: &Chore, keys: &[Key]) -> Result<(), Error> {
        match chore {
            Chore::Stage => {
                let draft = self.draft(keys).await?;
                let mut tx = self.db.begin().await?;
                table::stage(&mut tx, &draft, self.max_age, &Context::shell()).await?;
                tx.commit().await?;
            }
            // At once: the next key is made when this one signs.
            Chore::Activate(kid) => {
                let mut tx = self.db.begin().await?;
                if won(table::activate(&mut tx, kid, &Context::shell()).await)? {
                    tx.commit().await?;
                }
            }
            Chore::Rotate { active, staged } => {
                let draft = self.draft(keys).await?;
                self.promote(Some(active), staged, &draft).await?;
            }
            Chore::Delete(kid) => {
                self.delete(kid).await?;
            }
        }
        Ok(())
    }

    /// The key of this `kid`, which is not deleted.
    async fn find(&self, kid: &str) -> Result<Key, Error> {
        let keys = table::list(&self.db).await?;
        let key = keys.into_iter().find(|key| key.kid == kid);
        let key = key.ok_or_else(|| Error::Unknown(kid.to_owned()))?;
        match key.deleted_at {
            Some(at) => Err(Error::Deleted { kid: key.kid, at }),
            None => Ok(key),
        }
    }

    /// Makes a key, not stored yet. One that is sealed under another master key than its neighbours would
    /// be of no use to the issuer, so theirs is tried first.
    async fn draft(&self, keys: &[Key]) -> Result<Draft, Error> {
        for key in keys {
            key.open(&self.master_key)?;
        }
        let (master_key, bits) = (self.master_key.clone(), self.bits);
        tokio::task::spawn_blocking(move || signing::generate(bits, &master_key))
            .await
            .map_err(|panicked| Error::Rsa(panicked.to_string()))?
    }

    /// The whole rotation, for the one whose view of the keys still holds.
    async fn promote(&self, active: Option<&str>, staged: &str, draft: &Draft) -> Result<bool, Error> {
        let context = Context::shell();
        let mut tx = self.db.begin().await?;
        if let Some(active) = active
            && !table::retire(&mut tx, active, &context).await?
        {
            return Ok(false);
        }
        let activated = won(table::activate(&mut tx, staged, &context).await)?;
        if !activated || !table::stage(&mut tx, draft, self.max_age, &context).await? {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn delete(&self, kid: &str) -> Result<bool, Error> {
        let mut tx = self.db.begin().await?;
        let deleted = table::delete(&mut tx, kid, &Context::shell()).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn throw_away(&self, key: &Key, keys: &[Key], draft: &Draft) -> Result<bool, Error> {
        let context = Context::shell();
        let staged = in_state(keys, State::Staged).filter(|staged| staged.kid != key.kid);
        let successor =
            staged.filter(|staged| key.state == State::Active && staged.sign_after <= context.now);
        let mut tx = self.db.begin().await?;
        if !table::discard(&mut tx, key, &context).await? {
            return Ok(false);
        }
        revocation::deny_key(&mut tx, &key.kid, context.now).await?;
        if let Some(successor) = successor
            && !won(table::activate(&mut tx, &successor.kid, &context).await)?
        {
            return Ok(false);
        }
        // Where one stands ready already, this stages none.
        table::stage(&mut tx, draft, self.max_age, &context).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Tells every process that the keys changed, and the caller how they stand.
    async fn tell(&self, done: Done, kid: Option<&str>) -> Result<Change, Error> {
        let keys = table::live(&self.db).await?;
        let (_, etag) = keyring::published(&keys);
        self.feed.say(Word::Keys(etag)).await;
        let named = |state| in_state(&keys, state).map(|key| key.kid.clone());
        let active = named(State::Active);
        let waits = in_state(&keys, State::Staged).filter(|_| active.is_none());
        Ok(Change {
            done,
            kid: kid.map(str::to_owned),
            staged: named(State::Staged),
            signs_again_at: waits.map(|staged| staged.sign_after),
            active,
        })
    }
}

/// Two active keys, which the unique index refuses, are somebody else's win.
fn won(activated: Result<bool, db::Error>) -> Result<bool, db::Error> {
    match activated {
        Err(db::Error::Conflict) => Ok(false),
        other => other,
    }
}
