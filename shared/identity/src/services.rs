//! The dependencies of the identity rules: one value that both servers build at start-up.

use crate::captcha::Captcha;
use crate::lockout::Throttles;
use crate::mailed_tokens;
use crate::passwords::Passwords;
use audit::events::EventRecorder;
use foundation::sealing::SealingKey;
use mail::Mails;
use revocation::RevocationMirror;
use std::time::Duration;
use storage::db::Db;
use storage::expiring::ExpiringStore;

/// The database, stores, keys and lifetimes of sign-in and accounts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The database with users, sessions and grants.
    pub db: Db,
    /// The store that counts failed attempts and requested mails.
    pub expiring: ExpiringStore,
    /// The limits on failed sign-ins that apply in addition to the lockout.
    pub throttles: Throttles,
    /// Whether users can create accounts.
    pub allows_sign_ups: bool,
    /// Whether the sign-ups from one network are limited.
    pub limits_sign_ups: bool,
    /// The captcha that is required after repeated failures, if one is configured.
    pub captcha: Option<Captcha>,
    /// Password hashing with limited concurrency.
    pub passwords: Passwords,
    /// The idle and absolute lifetimes of sessions.
    pub session_lifetimes: SessionLifetimes,
    /// The lifetimes of the links in mails.
    pub link_lifetimes: mailed_tokens::Lifetimes,
    /// The largest number of mails an hour that confirm addresses of one domain.
    pub confirmations_per_domain: usize,
    /// The in-memory copy of all revocations.
    pub revocations: RevocationMirror,
    /// The recorder of events that a client can cause in any number.
    pub events: EventRecorder,
    /// The queue of mails to users.
    pub mails: Mails,
    /// The account key, which seals TOTP seeds and authenticates recovery codes.
    pub account_key: SealingKey,
}

/// The lifetimes of sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionLifetimes {
    /// The longest time between two uses.
    pub idle: Duration,
    /// The longest time since sign-in.
    pub absolute: Duration,
}
