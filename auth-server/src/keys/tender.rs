//! Tending the keys: the keyring follows the table, and what is due is done.

use super::lifecycle::{Chore, KeyStore};
use super::table::{Key, State, in_state};
use super::{Error, Keyring};
use shared::clock::{self, Timestamp};
use shared::feed::Word;
use std::time::Duration;

/// How often the table is read: what a command in the shell changed takes effect within a second.
const POLL: Duration = Duration::from_millis(250);
/// Chores done without a pause.
const CHORES: usize = 16;

/// Keeps a running issuer's keys in order.
#[derive(Clone, Debug)]
pub(crate) struct Tender {
    pub(crate) store: KeyStore,
    /// How long a key signs.
    pub(crate) lifetime: Duration,
}

impl Tender {
    /// Reads the keys. The first start makes the first key and the one behind it.
    pub(crate) async fn open(&self) -> Result<Keyring, Error> {
        let keyring = Keyring::empty();
        self.look(&keyring, None).await?;
        self.tend(&keyring).await?;
        Ok(keyring)
    }

    /// Follows the table and tends the keys for ever.
    pub(crate) async fn follow(self, keyring: Keyring) {
        tokio::join!(self.watch(&keyring), self.keep_tending(&keyring));
    }

    /// Reads the table at the feed's word and several times a second, while a key is being made too.
    async fn watch(&self, keyring: &Keyring) {
        let mut words = self.store.feed.listen();
        loop {
            let word = tokio::time::timeout(POLL, words.next_keys()).await;
            if let Err(error) = self.look(keyring, word.ok().flatten()).await {
                tracing::warn!(%error, "cannot read the signing keys");
            }
        }
    }

    async fn keep_tending(&self, keyring: &Keyring) {
        loop {
            tokio::time::sleep(POLL).await;
            if let Err(error) = self.tend(keyring).await {
                tracing::warn!(%error, "cannot tend the signing keys");
            }
        }
    }

    /// Reads the table. A change that came without a word, such as that of a command, is said here.
    async fn look(&self, keyring: &Keyring, told: Option<String>) -> Result<(), Error> {
        let store = &self.store;
        let changed = keyring.reload(&store.db, &store.master_key).await?;
        let set = keyring.set();
        if changed && told.as_deref() != Some(set.etag()) {
            store.feed.say(Word::Keys(set.etag().to_owned())).await;
        }
        Ok(())
    }

    /// Does what is due, until nothing is.
    async fn tend(&self, keyring: &Keyring) -> Result<(), Error> {
        for _ in 0..CHORES {
            let set = keyring.set();
            let Some(chore) = due(set.keys(), self.lifetime, clock::now()) else {
                break;
            };
            self.store.perform(&chore, set.keys()).await?;
            self.look(keyring, None).await?;
        }
        Ok(())
    }
}

/// What is to be done first.
fn due(keys: &[Key], lifetime: Duration, now: Timestamp) -> Option<Chore> {
    let Some(staged) = in_state(keys, State::Staged) else {
        return Some(Chore::Stage);
    };
    let ripe = (staged.sign_after <= now).then(|| staged.kid.clone());
    match (in_state(keys, State::Active), ripe) {
        (None, Some(staged)) => return Some(Chore::Activate(staged)),
        (Some(key), Some(staged)) if key.activated_at.is_some_and(|at| at.after(lifetime) <= now) => {
            let active = key.kid.clone();
            return Some(Chore::Rotate { active, staged });
        }
        _ => {}
    }
    let dead = |key: &&Key| key.dead_after.is_some_and(|at| at <= now);
    let dead = keys.iter().find(dead);
    dead.map(|key| Chore::Delete(key.kid.clone()))
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
            state,
            public_jwk: String::new(),
            sealed_private_key: None,
            created_at: at(0),
            sign_after: at(300),
            activated_at,
            retired_at: dead_after.map(|at| at.before(Duration::from_secs(660))),
            dead_after,
            deleted_at: None,
            compromised: false,
        }
    }

    fn rotation() -> Option<Chore> {
        Some(Chore::Rotate {
            active: "now".to_owned(),
            staged: "next".to_owned(),
        })
    }

    #[test]
    fn a_key_always_stands_ready() {
        let active = key("now", State::Active, [Some(0), None]);
        assert_eq!(due(&[], DAY, at(0)), Some(Chore::Stage));
        assert_eq!(due(&[active], DAY, at(0)), Some(Chore::Stage));
    }

    #[test]
    fn a_key_signs_for_its_lifetime_and_its_successor_not_before_it_may() {
        let staged = key("next", State::Staged, [None, None]);
        let keys = [staged.clone(), key("now", State::Active, [Some(100), None])];
        assert_eq!(due(&keys, DAY, at(86_499)), None);
        assert_eq!(due(&keys, DAY, at(86_500)), rotation());
        let short = Duration::from_secs(10);
        assert_eq!(due(&keys, short, at(299)), None);
        assert_eq!(due(&keys, short, at(300)), rotation());
        let alone = [staged];
        assert_eq!(due(&alone, DAY, at(299)), None);
        assert_eq!(
            due(&alone, DAY, at(300)),
            Some(Chore::Activate("next".to_owned()))
        );
    }

    #[test]
    fn a_retired_key_goes_when_its_last_token_is_dead() {
        let keys = [
            key("old", State::Retired, [Some(0), Some(1000)]),
            key("now", State::Active, [Some(340), None]),
            key("next", State::Staged, [None, None]),
        ];
        assert_eq!(due(&keys, DAY, at(999)), None);
        assert_eq!(due(&keys, DAY, at(1000)), Some(Chore::Delete("old".to_owned())));
    }
}
