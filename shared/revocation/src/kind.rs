//! A revocation of access tokens: the kind of claim by which it selects them, its subject and its lifetime.

use foundation::clock::Timestamp;
use foundation::names;
use std::fmt::Display;
use std::time::Duration;

/// The time for which the revocation of all tokens of a user or a client is kept. The access tokens it covers
/// expire within 600 s. The margin covers clocks that are wrong for a while.
pub const RETENTION: Duration = Duration::from_secs(48 * 3600);
/// The time for which the revocation of one token is kept after the `exp` of the token: the clock of the
/// process that deletes the row may be 30 s ahead of that of the database, and the clock of one that still
/// accepts the token 30 s behind it.
pub(super) const CLOCK_ALLOWANCE: Duration = Duration::from_secs(60);
/// The longest time that an access token can be accepted after its revocation, and a margin for tokens that
/// are issued meanwhile: the tokens live for 600 s at most.
pub(super) const LONGEST_LIFETIME: Duration = Duration::from_secs(600 + CLOCK_ALLOWANCE.as_secs());

/// The claim by which a revocation selects access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One access token, by its `jti`.
    Jti,
    /// All tokens of a user that belong to an epoch which has ended: `sub` and `user_epoch`.
    User,
    /// All tokens of a client that belong to an epoch which has ended: `client_id` and `client_epoch`.
    Client,
    /// All tokens of one family: its id is the claim `grant_id`.
    Family,
    /// All tokens signed by one key (`kid`).
    Key,
}

// The names in the column `kind`.
names!(Kind: Jti = "jti", User = "user", Client = "client", Family = "family", Key = "key");

impl Kind {
    /// Returns the time until which a process keeps a revocation of this kind that it read at `now`, if it
    /// does not know the row.
    pub(super) fn expires_at(self, now: Timestamp) -> Timestamp {
        match self {
            // A refresh token of a family is refused by the family's own row.
            Self::Jti | Self::Family => now.after(LONGEST_LIFETIME),
            Self::User | Self::Client => now.after(RETENTION),
            // A holder of a copied key can sign new tokens at any time.
            Self::Key => Timestamp::from_micros(i64::MAX),
        }
    }
}

/// A revocation of all access tokens with one subject.
#[derive(Clone, Debug)]
pub(super) struct Revocation {
    pub(super) kind: Kind,
    pub(super) subject: String,
    pub(super) revoked_at: Timestamp,
    /// The time at which its row may be deleted.
    pub(super) expires_at: Timestamp,
}

impl Revocation {
    /// Returns the revocation of all tokens with this subject that are issued until `now`.
    pub(super) fn new(kind: Kind, subject: String, now: Timestamp) -> Self {
        Self {
            kind,
            subject,
            revoked_at: now,
            expires_at: kind.expires_at(now),
        }
    }
}

/// Returns the subject of a revocation of all tokens of a user or a client, by its id, in an epoch.
pub fn epoch_subject(id: impl Display, epoch: i64) -> String {
    format!("{id}.{epoch}")
}
