//! The revoked subjects that a process knows.

use super::list;
use super::{Kind, RETENTION, Revocation};
use foundation::clock::Timestamp;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

/// Revoked subjects, in memory.
#[derive(Debug, Default)]
pub(super) struct RevokedSubjects(RwLock<HashMap<Kind, HashMap<String, Entry>>>);

/// A revoked subject.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The time of the revocation; `None` if it was read from the stream in Redis, which does not have it.
    revoked_at: Option<Timestamp>,
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

    /// Adds the subjects of rows.
    pub(super) fn add_rows(&self, revocations: &[Revocation]) {
        let subjects = revocations.iter();
        self.add(subjects.map(|one| (one.kind, one.subject.clone(), Some(one.revoked_at))));
    }

    /// Adds subjects from the stream in Redis.
    pub(super) fn add_from_stream(&self, subjects: Vec<(Kind, String)>) {
        self.add(subjects.into_iter().map(|(kind, subject)| (kind, subject, None)));
    }

    /// Returns the revocations that the list in Redis must have.
    pub(super) fn to_list(&self) -> Vec<Revocation> {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all = revoked
            .iter()
            .flat_map(|(kind, subjects)| subjects.iter().map(|(subject, entry)| (*kind, subject, entry)));
        let listed =
            all.filter(|(kind, _, entry)| *kind == Kind::Key || entry.read_at.elapsed() < list::LIFETIME);
        let revocation = |(kind, subject, entry): (Kind, &String, &Entry)| {
            let (subject, revoked_at) = (subject.clone(), entry.revoked_at?);
            Some(Revocation {
                kind,
                subject,
                revoked_at,
            })
        };
        listed.filter_map(revocation).collect()
    }

    /// Removes the subjects whose tokens expired long ago. Keys stay, as their rows do.
    pub(super) fn remove_old(&self) {
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (kind, subjects) in revoked.iter_mut() {
            subjects.retain(|_, entry| *kind == Kind::Key || entry.read_at.elapsed() < RETENTION);
        }
    }

    fn add(&self, subjects: impl Iterator<Item = (Kind, String, Option<Timestamp>)>) {
        let read_at = Instant::now();
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (kind, subject, revoked_at) in subjects {
            let entry = Entry { revoked_at, read_at };
            revoked.entry(kind).or_default().insert(subject, entry);
        }
    }
}
