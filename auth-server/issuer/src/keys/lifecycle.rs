//! The changes of signing keys. Each is one transaction; if several callers request the same change at once,
//! at most one of their transactions commits.

use super::change::{KeyChange, KeyTransition, Outcome};
use super::life::{self, Life};
use super::master_keys::MasterKeys;
use super::signing::{self, NewKey};
use super::table::{self, Key, State, in_state};
use super::{Error, installation_secret, keyring};
use foundation::clock::{self, Timestamp};
use foundation::context::RequestContext;
use foundation::sealing::SealingKey;
use identity::administrators;
use revocation::{RevocationMirror, RevokingTx};
use std::time::Duration;
use storage::clock_check::ClockDiffers;
use storage::db::{self, Db, Tx};
use storage::notifications::{Notification, Notifications};

/// The most attempts to discard a compromised key, each of which a concurrent change may overtake.
const ATTEMPTS: usize = 10;

/// Stores and changes the signing keys, for the commands and for the running issuer.
#[derive(Clone, Debug)]
pub struct KeyStore {
    /// The database of the keys.
    pub db: Db,
    /// Open the private keys. One of them seals new ones.
    pub master_keys: MasterKeys,
    /// The size of new keys in bits.
    pub bits: u32,
    /// The time for which clients may cache the JWKS.
    pub max_age: Duration,
    /// The time for which a key signs.
    pub lifetime: Duration,
    /// Announces changes to every process.
    pub notifications: Notifications,
    /// Announces the revocation of the tokens of a compromised key.
    pub revocations: RevocationMirror,
}

impl KeyStore {
    /// Retires the active key, activates the staged one and stages a new one. Fails with
    /// [`Error::NoneStaged`], with [`Error::SignsLater`] if the staged key may not sign yet, and with
    /// [`Error::ClockDiffers`].
    pub async fn rotate(&self, context: &RequestContext) -> Result<KeyChange, Error> {
        if context.clock.differs() {
            return Err(ClockDiffers.into());
        }
        let keys = self.published().await?;
        let active = in_state(&keys, State::Active).map(|key| key.kid.as_str());
        let staged = in_state(&keys, State::Staged).ok_or(Error::NoneStaged)?;
        if staged.sign_after > clock::now() {
            return Err(Error::SignsLater {
                kid: staged.kid.clone(),
                until: staged.sign_after,
            });
        }
        let new = self.generate(&keys).await?;
        let outcome = match self.promote(active, &staged.kid, &new, context).await? {
            true => Outcome::Rotated,
            false => Outcome::Overtaken,
        };
        self.announce(outcome, active, context).await
    }

    /// Rotates the keys if the key `kid` is active, or deletes it if it is retired. Fails with
    /// [`Error::StillNeeded`] if a token of the retired key may still be valid, with [`Error::Staged`] if the
    /// key is staged, and with [`Error::ClockDiffers`].
    pub async fn retire(&self, kid: &str, context: &RequestContext) -> Result<KeyChange, Error> {
        if context.clock.differs() {
            return Err(ClockDiffers.into());
        }
        let key = self.find(kid).await?;
        if let Some(at) = key.deleted_at {
            return Err(Error::Deleted { kid: key.kid, at });
        }
        match (key.state, key.dead_after) {
            (State::Active, _) => self.rotate(context).await,
            (State::Retired, Some(until)) if until > clock::now() => {
                Err(Error::StillNeeded { kid: key.kid, until })
            }
            (State::Retired, _) => {
                let outcome = match self.delete(kid, context).await? {
                    true => Outcome::Deleted,
                    false => Outcome::Overtaken,
                };
                self.announce(outcome, Some(kid), context).await
            }
            (State::Staged | State::Deleted, _) => Err(Error::Staged(key.kid)),
        }
    }

    /// Deletes the compromised key `kid` immediately and revokes every token that it signed. If the key was
    /// active, the staged key replaces it at once, even if caches may hold a key set without it: a verifier
    /// with such a cache refuses its tokens for a while, and without it there would be no tokens at all. A
    /// key that was already deleted stops verifying ID token hints. Fails with [`Error::Contended`] if
    /// concurrent changes came first at every attempt, or if the key is not in the state `expected`.
    pub async fn discard(
        &self,
        kid: &str,
        expected: Option<State>,
        context: &RequestContext,
    ) -> Result<KeyChange, Error> {
        for _ in 0..ATTEMPTS {
            let key = self.find(kid).await?;
            if expected.is_some_and(|state| state != key.state) {
                break;
            }
            let keys = self.published().await?;
            let new = self.generate(&keys).await?;
            if self.replace_compromised(&key, &keys, &new, context).await? {
                return self.announce(Outcome::Discarded, Some(kid), context).await;
            }
        }
        Err(Error::Contended)
    }

    /// Returns the keys that are not deleted, the oldest first.
    pub async fn published(&self) -> Result<Vec<Key>, db::Error> {
        table::list_published(self.db.reader()).await
    }

    /// Returns the lives of these keys, in their order, up to their planned ends. `published` are all keys
    /// that are not deleted.
    pub fn lives(&self, keys: &[Key], published: &[Key], now: Timestamp) -> Vec<Life> {
        life::lives(keys, published, self.lifetime, now)
    }

    /// Makes a transition, or does nothing if a concurrent change came first. `keys` are the published keys.
    pub(super) async fn apply(&self, transition: &KeyTransition, keys: &[Key]) -> Result<(), Error> {
        let context = RequestContext::without_request();
        match transition {
            KeyTransition::Begin => {
                let (first, next) = (self.generate(keys).await?, self.generate(keys).await?);
                let context = context.at_present();
                let (mut tx, sealing_key) = self.begin_staging(&context).await?;
                table::stage(&mut tx, &first, sealing_key, self.max_age, &context).await?;
                // Otherwise caches may hold a key set without it.
                if unless_conflict(table::activate(&mut tx, &first.kid, &context).await)? {
                    table::stage(&mut tx, &next, sealing_key, self.max_age, &context).await?;
                }
                tx.commit().await?;
            }
            KeyTransition::Stage => {
                let new = self.generate(keys).await?;
                let (mut tx, sealing_key) = self.begin_staging(&context).await?;
                table::stage(&mut tx, &new, sealing_key, self.max_age, &context.at_present()).await?;
                tx.commit().await?;
            }
            // Stages no key in the same transaction: signing must not wait for the generation of a key.
            KeyTransition::Activate(kid) => {
                let mut tx = self.db.begin().await?;
                if unless_conflict(table::activate(&mut tx, kid, &context).await)? {
                    tx.commit().await?;
                }
            }
            KeyTransition::Rotate { active, staged } => {
                let new = self.generate(keys).await?;
                self.promote(Some(active), staged, &new, &context).await?;
            }
            KeyTransition::Delete(kid) => {
                self.delete(kid, &context).await?;
            }
        }
        Ok(())
    }

    /// Returns the key with this `kid`. Fails with [`Error::Unknown`], and with [`Error::Deleted`] for a
    /// compromised key.
    pub async fn find(&self, kid: &str) -> Result<Key, Error> {
        let keys = table::all(&self.db).await?;
        let key = keys.into_iter().find(|key| key.kid == kid);
        let key = key.ok_or_else(|| Error::Unknown(kid.to_owned()))?;
        match key.deleted_at {
            Some(at) if key.compromised => Err(Error::Deleted { kid: key.kid, at }),
            _ => Ok(key),
        }
    }

    /// Generates a key without storing it. Fails, before it takes the time, if neither of the master keys
    /// opens a key in `keys`: then they do not open the installation secret either, and the key could not be
    /// staged.
    async fn generate(&self, keys: &[Key]) -> Result<NewKey, Error> {
        for key in keys {
            key.unseal(&self.master_keys)?;
        }
        let bits = self.bits;
        tokio::task::spawn_blocking(move || signing::generate(bits))
            .await
            .map_err(|panicked| Error::Rsa(panicked.to_string()))?
    }

    /// Begins a transaction that stages a key. Returns it with the key that seals the staged key. The lock of
    /// a reseal comes before those of the keys in each such transaction, so that the two do not deadlock.
    async fn begin_staging(&self, context: &RequestContext) -> Result<(Tx, &SealingKey), Error> {
        let mut tx = administrators::begin(&self.db, context).await?;
        let sealing_key = installation_secret::lock_sealing_key(&mut tx, &self.master_keys).await?;
        Ok((tx, sealing_key))
    }

    /// Retires the active key, activates the staged one and stages the new one, in one transaction. Returns
    /// false, without a change, if the keys are no longer in these states.
    async fn promote(
        &self,
        active: Option<&str>,
        staged: &str,
        new: &NewKey,
        context: &RequestContext,
    ) -> Result<bool, Error> {
        // The tokens of the retired key are counted from the present: the generation of a key takes a while.
        let context = context.at_present();
        let (mut tx, sealing_key) = self.begin_staging(&context).await?;
        if let Some(active) = active
            && !table::retire(&mut tx, active, &context).await?
        {
            return Ok(false);
        }
        let activated = unless_conflict(table::activate(&mut tx, staged, &context).await)?;
        if !activated || !table::stage(&mut tx, new, sealing_key, self.max_age, &context).await? {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn delete(&self, kid: &str, context: &RequestContext) -> Result<bool, Error> {
        let mut tx = administrators::begin(&self.db, context).await?;
        let deleted = table::delete(&mut tx, kid, &context.at_present()).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    /// Deletes a compromised key, revokes its tokens, and activates and stages its successors, in one
    /// transaction. Returns false, without a change, if the states of the keys differ from those in `keys`.
    async fn replace_compromised(
        &self,
        key: &Key,
        keys: &[Key],
        new: &NewKey,
        context: &RequestContext,
    ) -> Result<bool, Error> {
        let context = context.at_present();
        let (tx, sealing_key) = self.begin_staging(&context).await?;
        let mut tx = RevokingTx::new(tx, &self.revocations);
        if !table::discard(&mut tx, key, &context).await? {
            return Ok(false);
        }
        revocation::revoke_key(&mut tx, &key.kid, context.now).await?;
        if key.state == State::Active {
            let staged = in_state(keys, State::Staged).map(|staged| staged.kid.as_str());
            if staged.is_none() {
                table::stage(&mut tx, new, sealing_key, self.max_age, &context).await?;
            }
            let successor = staged.unwrap_or(&new.kid);
            if !unless_conflict(table::activate_early(&mut tx, successor, &context).await)? {
                return Ok(false);
            }
        }
        // Has no effect if a key is staged, and none if the new key has become the successor.
        table::stage(&mut tx, new, sealing_key, self.max_age, &context).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Notifies every process of a change. Returns the change with the keys after it.
    async fn announce(
        &self,
        outcome: Outcome,
        kid: Option<&str>,
        context: &RequestContext,
    ) -> Result<KeyChange, Error> {
        let keys = self.published().await?;
        let (_, etag) = keyring::jwk_set(&keys);
        let change = Notification::SigningKeysChanged(etag);
        self.notifications.publish(change).await;
        let kid_in = |state| in_state(&keys, state).map(|key| key.kid.clone());
        let early = in_state(&keys, State::Active).filter(|active| active.sign_after > context.clock.now());
        Ok(KeyChange {
            outcome,
            kid: kid.map(str::to_owned),
            staged: kid_in(State::Staged),
            caches_may_lack_it_until: early.map(|active| active.sign_after),
            active: kid_in(State::Active),
        })
    }
}

/// Turns a conflict into `false`: the unique index on active keys reports that a concurrent change came
/// first.
fn unless_conflict(activated: Result<bool, db::Error>) -> Result<bool, db::Error> {
    match activated {
        Err(db::Error::Conflict) => Ok(false),
        other => other,
    }
}
