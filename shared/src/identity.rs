//! Who people are: users, passwords, sessions, sign-in and its lockout. Used by the issuer's pages and
//! the API's routes alike.

pub mod accounts;
pub mod captcha;
pub mod email;
pub mod lockout;
pub mod login;
pub mod passwords;
pub mod sessions;
pub mod users;

use crate::db::Db;
use crate::ephemeral::Ephemeral;
use crate::revocation::Mirror;
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
    /// What ending a session may revoke.
    pub revocations: Mirror,
}

/// Seconds for people: "15 minutes", "1 minute", "40 seconds".
pub fn in_words(length: Duration) -> String {
    let (n, unit) = match length.as_secs() {
        seconds if seconds < 60 => (seconds.max(1), "second"),
        seconds => (seconds.div_ceil(60), "minute"),
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}
