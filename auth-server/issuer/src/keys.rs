//! Signing keys: generated, sealed, published, and held parsed in memory.
//!
//! A key passes through four states: staged (published, but not signing yet), active (it signs), retired
//! (published until its last token has expired) and deleted (no longer published, its private key erased). A
//! compromised key is deleted, whatever its state. The SQL of each transition refuses any other order.

mod change;
mod fetches;
pub mod installation_secret;
mod keyring;
pub mod life;
mod lifecycle;
pub mod list;
mod master_keys;
mod readiness;
mod refusals;
mod reseal;
mod rotation;
mod settings;
mod signing;
mod table;

pub use change::{KeyChange, Outcome};
pub use fetches::Fetches;
pub(crate) use keyring::find_retired;
pub use keyring::{KeySet, Keyring};
pub use lifecycle::KeyStore;
pub use master_keys::MasterKeys;
pub use readiness::{Readiness, Share, readiness};
pub use refusals::{Refusal, wait_until_dropped};
pub use reseal::{Resealed, reseal};
pub use rotation::KeyRotation;
pub use settings::SigningKeySettings;
pub use signing::SigningKey;
pub use table::{Key, State, all, in_state};
pub(crate) use table::{MAX_ACCESS_TOKEN_LIFETIME, STATEMENTS as TABLE_STATEMENTS};

use foundation::clock::Timestamp;
use identity::administrators;
use std::time::Duration;
use storage::clock_check::ClockDiffers;
use storage::db;

/// The reason why a key did not sign or change.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither of the master keys opens this row.
    #[error(
        "{0} in this database is sealed under another key than MASTER_KEY (or DATA_DIR/master.key) and \
         MASTER_KEY_PREVIOUS; set MASTER_KEY to that key or, to replace it, MASTER_KEY_PREVIOUS until `keys reseal` has run"
    )]
    Sealed(String),
    /// No issuer has stored its installation secret yet.
    #[error("this database has no installation secret: start the issuer once")]
    NoSecret,
    /// A key could not be generated or parsed, or it could not sign.
    #[error("RSA: {0}")]
    Rsa(String),
    /// No key is active, or the keys were not read recently.
    #[error("no key can sign for {} s", .wait.as_secs())]
    CannotSign {
        /// The time until the staged key may sign, if it is known, and at least a second.
        wait: Duration,
    },
    /// A rotation needs a staged key.
    #[error("no signing key is staged: a running issuer stages one within a second")]
    NoneStaged,
    /// The staged key may not sign yet.
    #[error(
        "the staged key {kid} may not sign before {until}: caches may hold a key set without it until then"
    )]
    SignsLater {
        /// The staged key.
        kid: String,
        /// The time from which it may sign.
        until: Timestamp,
    },
    /// A verifier lacks the staged key, or may lack it.
    #[error(
        "not every verifier is known to have the staged key {kid}, and those without it will refuse tokens until they fetch the \
         key set again: {verifiers}"
    )]
    Unready {
        /// The staged key.
        kid: String,
        /// The verifiers, and the time at which each was seen last.
        verifiers: String,
    },
    /// The retired key may not be deleted yet.
    #[error(
        "the retired key {kid} cannot be deleted before {until}, when its last token has expired; if it may be \
         compromised, retire it as compromised"
    )]
    StillNeeded {
        /// The retired key.
        kid: String,
        /// The time from which it may be deleted.
        until: Timestamp,
    },
    /// A staged key cannot be retired.
    #[error(
        "the key {0} is staged and has signed nothing; if it may be compromised, retire it as compromised"
    )]
    Staged(String),
    /// The key is deleted already.
    #[error("the key {kid} was deleted at {at}")]
    Deleted {
        /// The deleted key.
        kid: String,
        /// The time of the deletion.
        at: Timestamp,
    },
    /// No key has this `kid`.
    #[error("no signing key has the kid {0:?}")]
    Unknown(String),
    /// The clock of this machine differs: only a compromised key can be retired.
    #[error(transparent)]
    ClockDiffers(#[from] ClockDiffers),
    /// A concurrent change came first at every attempt.
    #[error("other changes of the signing keys came first; retry")]
    Contended,
    /// The administrator who calls was signed out meanwhile.
    #[error(transparent)]
    Administrator(#[from] administrators::Error),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}
