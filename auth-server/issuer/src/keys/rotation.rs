//! The automatic rotation of signing keys: two tasks keep the keyring equal to the table and make due
//! transitions.

use super::change::KeyTransition;
use super::lifecycle::KeyStore;
use super::table::{Key, State, in_state};
use super::{Error, Keyring, life};
use foundation::clock::{self, Timestamp};
use std::time::Duration;
use storage::clock_check::ClockCheck;
use storage::notifications::Notification;

/// The interval between two reads of the table, and between two checks for due transitions. It is short, so
/// that a command's change takes effect within a second.
const POLL: Duration = Duration::from_millis(250);
/// The most transitions that one check makes.
const MAX_TRANSITIONS: usize = 16;

/// Rotates the keys of a running issuer.
#[derive(Clone, Debug)]
pub struct KeyRotation {
    /// The stored keys.
    pub store: KeyStore,
    /// The check of the clock, which is measured before each transition.
    pub clock: ClockCheck,
}

impl KeyRotation {
    /// Makes all due transitions and returns a keyring with the stored keys. At the first start, generates
    /// the active and the staged key. Makes no transition if the clock differs from that of the database.
    /// Fails if the database does not answer or neither of the master keys opens the keys.
    pub async fn open(&self) -> Result<Keyring, Error> {
        let keyring = Keyring::empty();
        self.reload(&keyring, None).await?;
        self.make_due_transitions(&keyring).await?;
        Ok(keyring)
    }

    /// Keeps the keyring up to date and rotates the keys. Never returns.
    pub async fn run(self, keyring: Keyring) {
        tokio::join!(self.follow_table(&keyring), self.rotate(&keyring));
    }

    /// Reads the table on each notification and at each interval. Runs beside the rotation, because the
    /// generation of a key takes longer than the interval.
    async fn follow_table(&self, keyring: &Keyring) {
        let mut notifications = self.store.notifications.subscribe();
        loop {
            let etag = tokio::time::timeout(POLL, notifications.next_signing_keys()).await;
            if let Err(error) = self.reload(keyring, etag.ok().flatten()).await {
                tracing::warn!(%error, "cannot read the signing keys");
            }
        }
    }

    async fn rotate(&self, keyring: &Keyring) {
        loop {
            tokio::time::sleep(POLL).await;
            if let Err(error) = self.make_due_transitions(keyring).await {
                tracing::warn!(%error, "cannot rotate the signing keys");
            }
        }
    }

    /// Reads the table. Notifies other processes of a change unless a notification announced this key set.
    async fn reload(&self, keyring: &Keyring, announced_etag: Option<String>) -> Result<(), Error> {
        let store = &self.store;
        let changed = keyring.reload(&store.db, &store.master_keys).await?;
        let set = keyring.key_set();
        if changed && announced_etag.as_deref() != Some(set.etag()) {
            let change = Notification::SigningKeysChanged(set.etag().to_owned());
            store.notifications.publish(change).await;
        }
        Ok(())
    }

    async fn make_due_transitions(&self, keyring: &Keyring) -> Result<(), Error> {
        for _ in 0..MAX_TRANSITIONS {
            let set = keyring.key_set();
            let Some(transition) = due_transition(set.keys(), self.store.lifetime, clock::now()) else {
                break;
            };
            if self.clock.measure().await.is_err() {
                break;
            }
            self.store.apply(&transition, set.keys()).await?;
            self.reload(keyring, None).await?;
        }
        Ok(())
    }
}

/// Returns the transition to make first, if any is due.
fn due_transition(keys: &[Key], lifetime: Duration, now: Timestamp) -> Option<KeyTransition> {
    if keys.is_empty() {
        return Some(KeyTransition::Begin);
    }
    let Some((staged, takeover)) = life::takeover(keys, lifetime) else {
        return Some(KeyTransition::Stage);
    };
    if takeover <= now {
        let staged = staged.kid.clone();
        return Some(match in_state(keys, State::Active) {
            None => KeyTransition::Activate(staged),
            Some(active) => KeyTransition::Rotate {
                active: active.kid.clone(),
                staged,
            },
        });
    }
    let mut retired = keys.iter();
    let expired = retired.find(|key| key.dead_after.is_some_and(|at| at <= now));
    expired.map(|key| KeyTransition::Delete(key.kid.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn key(kid: &str, state: State, times: [Option<i64>; 2]) -> Key {
        let [activated_at, dead_after] = times.map(|time| time.map(at));
        Key {
            kid: kid.to_owned(),
            sign_after: at(300),
            activated_at,
            retired_at: dead_after.map(|at| at.before(Duration::from_secs(660))),
            dead_after,
            ..Key::example(state)
        }
    }

    fn rotation() -> Option<KeyTransition> {
        Some(KeyTransition::Rotate {
            active: "now".to_owned(),
            staged: "next".to_owned(),
        })
    }

    #[test]
    fn a_missing_staged_key_is_due_first() {
        let active = key("now", State::Active, [Some(0), None]);
        assert_eq!(due_transition(&[], DAY, at(0)), Some(KeyTransition::Begin));
        assert_eq!(due_transition(&[active], DAY, at(0)), Some(KeyTransition::Stage));
    }

    #[test]
    fn the_staged_key_takes_over_after_the_lifetime_and_not_before_it_may_sign() {
        let staged = key("next", State::Staged, [None, None]);
        let keys = [staged.clone(), key("now", State::Active, [Some(100), None])];
        assert_eq!(due_transition(&keys, DAY, at(86_499)), None);
        assert_eq!(due_transition(&keys, DAY, at(86_500)), rotation());
        let short = Duration::from_secs(10);
        assert_eq!(due_transition(&keys, short, at(299)), None);
        assert_eq!(due_transition(&keys, short, at(300)), rotation());
        let only_staged = [staged];
        assert_eq!(due_transition(&only_staged, DAY, at(299)), None);
        assert_eq!(
            due_transition(&only_staged, DAY, at(300)),
            Some(KeyTransition::Activate("next".to_owned()))
        );
    }

    #[test]
    fn a_retired_key_is_deleted_once_its_last_token_has_expired() {
        let keys = [
            key("old", State::Retired, [Some(0), Some(1000)]),
            key("now", State::Active, [Some(340), None]),
            key("next", State::Staged, [None, None]),
        ];
        assert_eq!(due_transition(&keys, DAY, at(999)), None);
        assert_eq!(
            due_transition(&keys, DAY, at(1000)),
            Some(KeyTransition::Delete("old".to_owned()))
        );
    }
}
