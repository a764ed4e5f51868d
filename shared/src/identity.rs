//! Who people are: users, passwords, sessions, sign-in and its lockout. Used by the issuer's pages and
//! the API's routes alike.

pub mod accounts;
pub mod captcha;
pub mod email;
pub mod lockout;
pub mod login;
pub mod mailbox_proofs;
pub mod mailed_tokens;
pub mod mfa;
pub mod passwords;
pub mod recovery_codes;
pub mod resets;
pub mod sessions;
pub mod totp;
pub mod users;
pub mod verifications;

use crate::db::Db;
use crate::ephemeral::Ephemeral;
use crate::mail::Mails;
use crate::revocation::Mirror;
use crate::seal::SealingKey;
use passwords::Passwords;
use std::time::Duration;

/// What signing in needs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Users and sessions.
    pub db: Db,
    /// Failed attempts.
    pub ephemeral: Ephemeral,
    /// How many failures are too many, beside the lockout.
    pub throttles: lockout::Throttles,
    /// Asked for after repeated failures, where there is one.
    pub captcha: Option<captcha::Captcha>,
    /// Hashing under permits.
    pub passwords: Passwords,
    /// How long sessions live.
    pub lifetimes: sessions::Lifetimes,
    /// How long the links in mails live.
    pub links: mailed_tokens::Lifetimes,
    /// What ending a session may revoke.
    pub revocations: Mirror,
    /// What people are told by mail.
    pub mails: Mails,
    /// Seals one-time password seeds.
    pub account_key: SealingKey,
}

/// A length of time for people: "24 hours", "15 minutes", "40 seconds".
pub fn in_words(length: Duration) -> String {
    let (n, unit) = match length.as_secs() {
        seconds if seconds < 60 => (seconds.max(1), "second"),
        seconds if seconds < 7_200 => (seconds.div_ceil(60), "minute"),
        seconds => (seconds.div_ceil(3_600), "hour"),
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}
