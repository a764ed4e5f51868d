//! Keeping the list in Redis complete, which the issuers do.

use super::Revocation;
use super::list::{Expected, RevocationList};
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

    /// Adds revocations that the list lacks, at most 20,000: new ones, or `all` if Redis was emptied, replaced, started again, or
    /// restored from an older copy, which has no mark any more. An older copy that takes the place of Redis at once may have the marks
    /// and the id of the data set, but every connection breaks, so all are added after any failure of Redis too. Returns whether the list
    /// lacked any.
    pub(super) async fn complete(
        &mut self,
        list: &RevocationList,
        all: impl FnOnce() -> Vec<Revocation>,
    ) -> Result<bool, Unavailable> {
        let failures = list.failures();
        let data_set = list.data_set().await?;
        if self.data_set.as_ref() != Some(&data_set) || self.failures != failures {
            self.missing = all();
            self.is_marked = false;
            self.data_set = Some(data_set.clone());
            self.failures = failures;
        }
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
}
