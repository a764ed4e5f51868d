//! Signing keys: made, sealed, published, and held parsed in memory to sign with.
//!
//! A key is staged (published, not signing), active (the one that signs), retired (published until its last
//! token is dead), deleted (its private half is erased). The table refuses every other way through life.

mod keyring;
mod lifecycle;
mod signing;
mod table;
mod tender;

pub(crate) use keyring::Keyring;
pub(crate) use lifecycle::{Change, Done, KeyStore};
pub(crate) use signing::SigningKey;
pub(crate) use table::{Key, STATEMENTS, list};
pub(crate) use tender::Tender;

use shared::clock::Timestamp;
use shared::config::Invalid;
use shared::seal::DoesNotOpen;
use shared::{db, start};
use std::time::Duration;

/// Why a key did not sign, or did not change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The master key is not the one that the keys were sealed under.
    #[error(
        "the signing keys in this database do not open: MASTER_KEY (or DATA_DIR/master.key) is not the key they \
         were sealed under"
    )]
    Sealed(#[from] DoesNotOpen),
    /// Key generation or parsing failed.
    #[error("RSA: {0}")]
    Rsa(String),
    /// The active key was thrown away before the staged one may sign, or the keys were not read lately.
    #[error("there is no key to sign with for {} s", .wait.as_secs())]
    NoneActive {
        /// How long that lasts, as far as can be told.
        wait: Duration,
    },
    /// Nothing to rotate to.
    #[error("no signing key is staged: a running issuer stages one within a second")]
    NoneStaged,
    /// Too early to rotate.
    #[error(
        "the staged key {kid} may not sign before {until}: until then somebody may hold a key set without it"
    )]
    NotRipe {
        /// The staged key.
        kid: String,
        /// When it may sign.
        until: Timestamp,
    },
    /// Too early to delete.
    #[error(
        "the retired key {kid} stays until {until}, when its last token is dead; if somebody else may have it, \
         say --compromised"
    )]
    NotDead {
        /// The retired key.
        kid: String,
        /// When it may go.
        until: Timestamp,
    },
    /// A staged key has nothing to retire from.
    #[error("the key {0} is staged and has signed nothing; if somebody else may have it, say --compromised")]
    Staged(String),
    /// It is gone already.
    #[error("the key {kid} was deleted at {at}")]
    Deleted {
        /// The deleted key.
        kid: String,
        /// When.
        at: Timestamp,
    },
    /// No such key.
    #[error("no signing key has the kid {0:?}")]
    Unknown(String),
    /// Others changed the keys again and again meanwhile.
    #[error("the keys kept changing meanwhile; try again")]
    Contended,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl From<Error> for start::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Sealed(_) => Self::Invalid(Invalid(error.to_string())),
            Error::Database(error) => Self::Database(error),
            other => Self::Other(other.to_string()),
        }
    }
}
