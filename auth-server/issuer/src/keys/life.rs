//! The lives of the signing keys: their past, and their future if nobody but the automatic rotation changes
//! them.

use super::table::{self, Key, State, in_state};
use foundation::clock::Timestamp;
use std::time::Duration;
use storage::db::{Db, Error};
use storage::{fetch_all, sql};

sql! {
    // Keys begin to sign in the order of their numbers, one at a time.
    SIGNED_SINCE = "SELECT activated_at AS began, COALESCE(retired_at, deleted_at) AS ended FROM signing_keys
                    WHERE activated_at IS NOT NULL AND number >= COALESCE((SELECT number FROM signing_keys
                        WHERE activated_at <= $1 ORDER BY number DESC LIMIT 1), 0)
                    ORDER BY number DESC LIMIT $2";
}

/// The largest number of keys whose times of signing are read.
const MAX_KEYS: i64 = 5_000;

/// The times at which a key enters its states. Those that lie in the future are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The key is published.
    pub staged_at: Timestamp,
    /// The key begins to sign; `None` if it never did.
    pub activated_at: Option<Timestamp>,
    /// The key no longer signs; `None` if it never signed.
    pub retired_at: Option<Timestamp>,
    /// The key is no longer published.
    pub deleted_at: Option<Timestamp>,
}

/// Returns the lives of these keys, in their order. `published` are all keys that are not deleted, and
/// `lifetime` is the time for which a key signs. Without a staged key, the next rotation is not known.
pub(super) fn lives(keys: &[Key], published: &[Key], lifetime: Duration, now: Timestamp) -> Vec<Life> {
    let rotation = takeover(published, lifetime).map(|(_, at)| at.max(now));
    keys.iter().map(|key| life(key, rotation, lifetime)).collect()
}

/// Returns the staged key, and the time at which it becomes the active one if no administrator changes the
/// keys: at the end of the lifetime of the active key, if there is one, but not before it may sign. `None` if
/// no key is staged.
pub fn takeover(published: &[Key], lifetime: Duration) -> Option<(&Key, Timestamp)> {
    let staged = in_state(published, State::Staged)?;
    let active = in_state(published, State::Active).and_then(|active| active.activated_at);
    let end = active.map(|activated_at| activated_at.after(lifetime));
    let at = end.map_or(staged.sign_after, |end| end.max(staged.sign_after));
    Some((staged, at))
}

/// The time in which a key signed.
#[derive(Clone, Copy, sqlx::FromRow)]
pub(crate) struct SigningTime {
    pub(crate) began: Timestamp,
    /// `None` for the key that signs.
    pub(crate) ended: Option<Timestamp>,
}

/// Returns the times of the keys that signed at the time `since` or later, of the newest 5,000 if there are
/// more.
pub(crate) async fn signing_times(db: &Db, since: Timestamp) -> Result<Vec<SigningTime>, Error> {
    fetch_all!(db.reader(), SigningTime, SIGNED_SINCE, since, MAX_KEYS)
}

/// Returns the time for which the key that signed at the time `at` had signed by then; `None` if none of
/// those with these times did.
pub(crate) fn signed_for(times: &[SigningTime], at: Timestamp) -> Option<Duration> {
    let signed = times
        .iter()
        .filter(|time| time.began <= at && time.ended.is_none_or(|ended| ended > at));
    signed.map(|time| at.since(time.began)).min()
}

/// Returns the life of a key. `rotation` is the time at which the staged key replaces the active one.
fn life(key: &Key, rotation: Option<Timestamp>, lifetime: Duration) -> Life {
    let (activated_at, retired_at) = match key.state {
        State::Staged => (rotation, rotation.map(|at| at.after(lifetime))),
        State::Active => (key.activated_at, rotation),
        // An active key that is deleted as compromised is not retired before.
        State::Retired | State::Deleted => (key.activated_at, key.retired_at.or(key.deleted_at)),
    };
    let retired_at = retired_at.filter(|_| activated_at.is_some());
    let last_token = retired_at.map(table::expiry_of_last_token);
    Life {
        staged_at: key.created_at,
        activated_at,
        retired_at,
        deleted_at: key.deleted_at.or(key.dead_after).or(last_token),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn key(state: State, sign_after: i64, activated_at: Option<i64>) -> Key {
        Key {
            activated_at: activated_at.map(at),
            sign_after: at(sign_after),
            ..Key::example(state)
        }
    }

    #[test]
    fn the_staged_key_takes_over_at_the_end_of_the_lifetime() {
        let keys = [key(State::Active, 0, Some(100)), key(State::Staged, 300, None)];
        let [active, staged] = lives(&keys, &keys, DAY, at(200)).try_into().unwrap();
        assert_eq!(active.retired_at, Some(at(86_500)));
        assert_eq!(active.deleted_at, Some(at(87_160)));
        assert_eq!(staged.activated_at, Some(at(86_500)));
        assert_eq!(staged.retired_at, Some(at(172_900)));
    }

    #[test]
    fn no_planned_change_lies_in_the_past_or_before_the_key_may_sign() {
        let staged = key(State::Staged, 300, None);
        let overdue = [key(State::Active, 0, Some(0)), staged.clone()];
        assert_eq!(
            lives(&overdue, &overdue, DAY, at(90_000))[1].activated_at,
            Some(at(90_000))
        );
        let alone = [staged];
        assert_eq!(lives(&alone, &alone, DAY, at(200))[0].activated_at, Some(at(300)));
    }

    #[test]
    fn without_a_staged_key_the_active_one_has_no_planned_end() {
        let keys = [key(State::Active, 0, Some(100))];
        let active = lives(&keys, &keys, DAY, at(200))[0];
        assert_eq!((active.retired_at, active.deleted_at), (None, None));
    }

    #[test]
    fn the_signing_key_is_as_old_as_its_activation() {
        let signed = |began, ended: Option<i64>| SigningTime {
            began: at(began),
            ended: ended.map(at),
        };
        let times = [signed(100, Some(400)), signed(400, None)];
        for (time, age) in [
            (99, None),
            (100, Some(0)),
            (399, Some(299)),
            (400, Some(0)),
            (2_000, Some(1_600)),
        ] {
            let expected = age.map(Duration::from_secs);
            assert_eq!(signed_for(&times, at(time)), expected, "{time}");
        }
    }

    #[test]
    fn a_compromised_key_ends_when_it_is_deleted() {
        let discarded = |activated_at| Key {
            deleted_at: Some(at(500)),
            compromised: true,
            ..key(State::Deleted, 0, activated_at)
        };
        let keys = [discarded(Some(100)), discarded(None)];
        let [active, staged] = lives(&keys, &[], DAY, at(600)).try_into().unwrap();
        assert_eq!(
            (active.retired_at, active.deleted_at),
            (Some(at(500)), Some(at(500)))
        );
        assert_eq!((staged.activated_at, staged.retired_at), (None, None));
        assert_eq!(staged.deleted_at, Some(at(500)));
    }
}
