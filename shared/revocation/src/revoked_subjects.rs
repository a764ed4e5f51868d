//! The revoked subjects that a process knows.

use super::kind::{Kind, LONGEST_LIFETIME, Revocation};
use foundation::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

/// Revoked subjects, in memory.
#[derive(Debug, Default)]
pub(super) struct RevokedSubjects(RwLock<HashMap<Kind, HashMap<Box<str>, Entry>>>);

/// A revoked subject.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The time of the revocation, or of the read if an older version of the program reported it by the
    /// stream in Redis.
    revoked_at: Timestamp,
    /// The time at which the row of the revocation may be deleted.
    expires_at: Timestamp,
    /// The time at which this process read the revocation.
    read_at: Instant,
}

impl RevokedSubjects {
    /// Returns whether any of these subjects is revoked.
    pub(super) fn contain_any(&self, subjects: &[(Kind, &str)]) -> bool {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let is_revoked = |(kind, subject): &(Kind, &str)| {
            let of_kind = revoked.get(kind);
            of_kind.is_some_and(|subjects| subjects.contains_key(*subject))
        };
        subjects.iter().any(is_revoked)
    }

    /// Adds revocations, and returns those that were not known.
    pub(super) fn add<'a>(&self, revocations: &'a [Revocation]) -> Vec<&'a Revocation> {
        let (read_at, mut new) = (Instant::now(), Vec::new());
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for revocation in revocations {
            let entry = Entry {
                revoked_at: revocation.revoked_at,
                expires_at: revocation.expires_at,
                read_at,
            };
            let of_kind = revoked.entry(revocation.kind).or_default();
            if of_kind
                .insert(revocation.subject.as_str().into(), entry)
                .is_none()
            {
                new.push(revocation);
            }
        }
        new
    }

    /// Returns the revocations that the list in Redis must have.
    pub(super) fn to_list(&self) -> Vec<Revocation> {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all = revoked
            .iter()
            .flat_map(|(kind, subjects)| subjects.iter().map(|(subject, entry)| (*kind, &**subject, entry)));
        let listed = all.filter(|(kind, _, entry)| *kind == Kind::Key || entry.is_recent());
        let revocation = |(kind, subject, entry): (Kind, &str, &Entry)| Revocation {
            kind,
            subject: subject.to_owned(),
            revoked_at: entry.revoked_at,
            expires_at: entry.expires_at,
        };
        listed.map(revocation).collect()
    }

    /// Removes the subjects whose rows may be deleted. A clock that is set forward removes none whose tokens
    /// live when it is set back.
    pub(super) fn remove_expired(&self, now: Timestamp) {
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for subjects in revoked.values_mut() {
            subjects.retain(|_, entry| entry.expires_at > now || entry.is_recent());
            // After a flood, the memory becomes free.
            if subjects.len() < subjects.capacity() / 4 {
                subjects.shrink_to_fit();
            }
        }
    }
}

impl Entry {
    /// Returns whether a token that was issued before this process read the revocation may live.
    fn is_recent(&self) -> bool {
        self.read_at.elapsed() < LONGEST_LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_subject_stays_until_its_row_and_its_tokens_have_expired() {
        let (now, length) = (Timestamp::from_micros(0), Duration::from_secs(660));
        let subjects = RevokedSubjects::default();
        let kinds = [Kind::Jti, Kind::User, Kind::Key];
        let revocations = kinds.map(|kind| Revocation::new(kind, "x".to_owned(), now));
        assert_eq!(subjects.add(&revocations).len(), 3);
        assert!(subjects.add(&revocations).is_empty());
        let left_after = |length| {
            subjects.remove_expired(now.after(length));
            kinds.map(|kind| subjects.contain_any(&[(kind, "x")]))
        };
        // The clock was set forward: the tokens may live when it is set back.
        assert_eq!(left_after(100 * length), [true; 3]);
        for entry in subjects
            .0
            .write()
            .unwrap()
            .values_mut()
            .flat_map(HashMap::values_mut)
        {
            entry.read_at = entry.read_at.checked_sub(length).unwrap();
        }
        assert_eq!(left_after(Duration::ZERO), [true; 3]);
        assert_eq!(left_after(length), [false, true, true]);
        assert_eq!(left_after(400 * length), [false, false, true]);
    }
}
