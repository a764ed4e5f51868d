//! Keeping the list in Redis complete, which the issuers do.

use super::kind::Revocation;
use super::list::{Expected, RevocationList};
use super::revoked_subjects::RevokedSubjects;
use storage::redis::Unavailable;

/// The state of the list in Redis, as far as this process knows it.
#[derive(Debug, Default)]
pub(super) struct ListMaintenance {
    /// The id of the data set that has all revocations that this process knows, except those in `missing`.
    data_set: Option<String>,
    /// The number of failures of Redis before the list got them.
    failures: u64,
    missing: Vec<Revocation>,
    /// Whether this process has marked the list as complete.
    is_marked: bool,
}

impl ListMaintenance {
    /// Takes new revocations, which the list may lack.
    pub(super) fn extend(&mut self, revocations: Vec<Revocation>) {
        self.missing.extend(revocations);
    }

    /// Forgets which revocations the list has: the next call of [`complete`](Self::complete) adds all.
    pub(super) fn forget(&mut self) {
        self.data_set = None;
        self.missing = Vec::new();
    }

    /// Adds revocations that the list lacks, at most 20,000: new ones, or all `revoked` ones if Redis was
    /// emptied, replaced, started again, or restored from an older copy, which has no mark any more. An older
    /// copy that takes the place of Redis at once may have the marks and the id of the data set, but every
    /// connection breaks, so all are added after any failure of Redis too. Returns whether any was lacking.
    pub(super) async fn complete(
        &mut self,
        list: &RevocationList,
        revoked: &RevokedSubjects,
    ) -> Result<bool, Unavailable> {
        let failures = list.failures();
        let data_set = list.data_set().await?;
        self.compare(&data_set, failures, revoked);
        let expected = Expected {
            data_set: &data_set,
            is_marked: self.is_marked,
        };
        let lacked = list.complete(expected, &mut self.missing).await?;
        if lacked.is_none() {
            self.data_set = None;
        } else {
            self.is_marked = self.missing.is_empty();
        }
        Ok(lacked.is_some_and(|count| count > 0))
    }

    /// Compares the data set of Redis, and the number of its failures, with those of the last call. If either
    /// is another, the list may lack any revocation: all are missing, and no mark of this process counts.
    fn compare(&mut self, data_set: &str, failures: u64, revoked: &RevokedSubjects) {
        if self.data_set.as_deref() == Some(data_set) && self.failures == failures {
            return;
        }
        self.missing = revoked.to_list();
        self.is_marked = false;
        self.data_set = Some(data_set.to_owned());
        self.failures = failures;
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;
    use foundation::clock::Timestamp;

    /// The ids of one data set in two runs of Redis.
    const RUN: &str = "data:run1";
    const NEXT_RUN: &str = "data:run2";

    fn revocation(jti: &str) -> Revocation {
        Revocation::new(Kind::Jti, jti.to_owned(), Timestamp::from_micros(0))
    }

    fn all() -> RevokedSubjects {
        let subjects = RevokedSubjects::default();
        subjects.add(&[revocation("old")]);
        subjects
    }

    /// The state of a process whose list had all revocations, and which has one more since.
    fn maintained() -> ListMaintenance {
        ListMaintenance {
            data_set: Some(RUN.to_owned()),
            failures: 3,
            missing: vec![revocation("new")],
            is_marked: true,
        }
    }

    fn missing(maintenance: &ListMaintenance) -> Vec<&str> {
        let missing = maintenance.missing.iter();
        missing.map(|revocation| revocation.subject.as_str()).collect()
    }

    #[test]
    fn the_same_run_without_a_failure_lacks_only_new_revocations() {
        let mut maintenance = maintained();
        maintenance.compare(RUN, 3, &all());
        assert_eq!(missing(&maintenance), ["new"]);
        assert!(maintenance.is_marked);
    }

    /// A proxy can replace Redis behind a connection that does not break.
    #[test]
    fn another_run_lacks_all_revocations_although_nothing_failed() {
        let mut maintenance = maintained();
        maintenance.compare(NEXT_RUN, 3, &all());
        assert_eq!(missing(&maintenance), ["old"]);
        assert!(!maintenance.is_marked);
        // The run is known from now on.
        maintenance.missing.clear();
        maintenance.compare(NEXT_RUN, 3, &all());
        assert!(maintenance.missing.is_empty());
    }

    #[test]
    fn the_same_run_lacks_all_revocations_after_a_failure() {
        let mut maintenance = maintained();
        maintenance.compare(RUN, 4, &all());
        assert_eq!(missing(&maintenance), ["old"]);
        assert!(!maintenance.is_marked);
    }
}
