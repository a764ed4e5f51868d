//! The storage that each user takes, and its quota. Triggers of the schema count the bytes of posts,
//! comments, payments and idempotency keys in `storage_use`, in the statement that changes them. A statement
//! that adds to them compares that count with the quota. On PostgreSQL it locks the row of the count until
//! the transaction ends, so that concurrent writes of a user cannot exceed the quota together.

use foundation::clock::Timestamp;
use identity::authority::Authority;
use storage::db::{Error, Executor, WriteTarget};
use storage::{fetch_optional, sql};

sql! {
    FITS = "SELECT CAST(1 AS BIGINT) FROM storage_use WHERE user_id = $1 AND bytes <= $2";
}

/// The bytes that count for a row with its index entries, beside its texts. The triggers count the same.
const ROW: i64 = 512;

/// `stored_bytes!("$1", " FOR NO KEY UPDATE")` is an SQL expression: the bytes that the user with this id
/// stores. The last argument locks the count on PostgreSQL, so it is empty for SQLite. Every statement that
/// changes the count locks it before any row of a resource, and after the row of the user whose authority it
/// checks; in another order two statements could deadlock.
macro_rules! stored_bytes {
    ($user_id:literal, $lock:literal) => {
        concat!(
            "(SELECT bytes FROM storage_use WHERE user_id = ",
            $user_id,
            $lock,
            ")"
        )
    };
}
pub(crate) use stored_bytes;

/// The most that a user may store, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Quota(i64);

/// The conditions of a write for a user, which its statement checks.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// The user and the credentials.
    pub authority: Authority,
    /// The most that any user may store.
    pub quota: Quota,
}

/// The reason why something was not written for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The credentials of the caller ended during the call.
    #[error("the credentials of the caller have ended")]
    SignedOut,
    /// The owner of the resource would store more than the quota.
    #[error("the owner of the resource would store more than the quota")]
    QuotaExceeded,
}

impl Allowance {
    /// Returns why a statement inserted nothing that depends on the authority and on the quota. Fails if the
    /// database does.
    pub(crate) async fn refusal(
        self,
        target: &mut WriteTarget<'_>,
        now: Timestamp,
    ) -> Result<Refusal, Error> {
        match self.authority.holds(target.on(), now).await? {
            true => Ok(Refusal::QuotaExceeded),
            false => Ok(Refusal::SignedOut),
        }
    }
}

impl Quota {
    /// Returns the quota of this number of bytes.
    pub const fn new(bytes: i64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub(crate) const fn bytes(self) -> i64 {
        self.0
    }

    /// Returns the most that a user may store before a write that adds `growth` bytes. A write that adds
    /// nothing is always allowed, also to users who store more than the quota because it was larger before.
    pub(crate) const fn before(self, growth: i64) -> i64 {
        match growth {
            1.. => self.0 - growth,
            _ => i64::MAX,
        }
    }
}

/// Returns the bytes that count for a row with these texts.
pub(crate) fn size_of_row(texts: &[&str]) -> i64 {
    ROW + size_of(texts)
}

/// Returns the size of these texts, in bytes.
pub(crate) fn size_of(texts: &[&str]) -> i64 {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    i64::try_from(bytes).unwrap_or(i64::MAX / 2)
}

/// Returns whether a user stores at most `most` bytes. Fails if the database does.
pub(crate) async fn fits(on: Executor<'_>, user_id: i64, most: i64) -> Result<bool, Error> {
    let row = fetch_optional!(on, (i64,), FITS, user_id, most)?;
    Ok(row.is_some())
}
