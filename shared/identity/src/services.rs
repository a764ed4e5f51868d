//! The services that the identity rules work with: one value that both servers build at start-up.

use crate::captcha::Captcha;
use crate::lockout::Throttles;
use crate::mailed_tokens;
use crate::passwords::Passwords;
use crate::sessions;
use audit::mail::Mails;
use audit::revocation::RevocationMirror;
use foundation::sealing::SealingKey;
use storage::db::Db;
use storage::expiring::ExpiringStore;

/// The database, stores, keys and lifetimes that sign-in and accounts need. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The database with users, sessions and grants.
    pub db: Db,
    /// The store that counts failed attempts.
    pub expiring: ExpiringStore,
    /// The limits of failed sign-ins beside the lockout.
    pub throttles: Throttles,
    /// The captcha that is required after repeated failures, if one is configured.
    pub captcha: Option<Captcha>,
    /// Password hashing under permits.
    pub passwords: Passwords,
    /// The idle and absolute lifetimes of sessions.
    pub session_lifetimes: sessions::Lifetimes,
    /// The lifetimes of the links in mails.
    pub link_lifetimes: mailed_tokens::Lifetimes,
    /// The in-memory copy of all revocations.
    pub revocations: RevocationMirror,
    /// The queue of mails to users.
    pub mails: Mails,
    /// The key that seals TOTP seeds.
    pub account_key: SealingKey,
}
