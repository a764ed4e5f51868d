//! Settings of accounts: the account key, sessions, mailed links and passwords.

mod sign_in;

pub use sign_in::SignInSettings;

use crate::services::SessionLifetimes;
use crate::{mailed_tokens, passwords};
use clap::{Args, ValueEnum};
use foundation::duration::parse_duration;
use foundation::sealing::SealingKey;
use foundation::settings::{InvalidSetting, read_key};
use std::path::PathBuf;
use std::time::Duration;

/// The account key, which seals TOTP seeds and mails.
#[derive(Args, Clone, Debug)]
pub struct AccountKeySettings {
    /// The key that seals one-time password seeds and mails: 32 random bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_ACCOUNT_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub account_key: Option<String>,

    /// A file with the account key.
    #[arg(long, env = "LATCHKEY_ACCOUNT_KEY_FILE", global = true, value_name = "FILE")]
    pub account_key_file: Option<PathBuf>,
}

/// The setting of sign-up.
#[derive(Args, Clone, Debug)]
pub struct SignUpSettings {
    /// Whether users can create accounts, on the page `/signup` and by the API. If not, only administrators
    /// create them.
    #[arg(
        long,
        env = "LATCHKEY_SIGN_UP",
        global = true,
        default_value = "on",
        value_name = "MODE"
    )]
    pub sign_up: SignUpMode,
}

/// The values of the setting of sign-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SignUpMode {
    /// Everybody can create an account.
    On,
    /// Only administrators can.
    Off,
}

/// The lifetimes of sessions.
#[derive(Args, Clone, Debug)]
pub struct SessionSettings {
    /// The lifetime of an unused session.
    #[arg(long, env = "LATCHKEY_SESSION_IDLE", global = true, default_value = "1h", value_name = "TIME",
          value_parser = parse_duration)]
    pub session_idle: Duration,

    /// The lifetime of a session from sign-in on, even if it is in use.
    #[arg(long, env = "LATCHKEY_SESSION_MAX", global = true, default_value = "12h", value_name = "TIME",
          value_parser = parse_duration)]
    pub session_max: Duration,
}

/// The lifetimes and the number of the links in mails.
#[derive(Args, Clone, Debug)]
pub struct MailedLinkSettings {
    /// The lifetime of a password reset link.
    #[arg(long, env = "LATCHKEY_RESET_LINK_LIFETIME", global = true, default_value = "30m", value_name = "TIME",
          value_parser = parse_duration)]
    pub reset_link_lifetime: Duration,

    /// The lifetime of a link that confirms an e-mail address.
    #[arg(long, env = "LATCHKEY_EMAIL_LINK_LIFETIME", global = true, default_value = "24h", value_name = "TIME",
          value_parser = parse_duration)]
    pub email_link_lifetime: Duration,

    /// The largest number of mails an hour that confirm addresses of one domain, of which one network causes
    /// a tenth at most. Further ones are not sent, and their users can request them later.
    #[arg(long, env = "LATCHKEY_CONFIRMATIONS_PER_DOMAIN", global = true, default_value_t = 300, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub confirmations_per_domain: usize,
}

/// The length of passwords and the cost of hashing them.
#[derive(Args, Clone, Debug)]
pub struct PasswordSettings {
    /// The minimum length of a new password, in characters.
    #[arg(long, env = "LATCHKEY_PASSWORD_MIN_LENGTH", global = true, default_value_t = 8, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(passwords::MIN_LENGTH as u64..=64))]
    pub password_min_length: usize,

    /// Memory of one password hash (Argon2id), in KiB.
    #[arg(long, env = "LATCHKEY_ARGON2_MEMORY", global = true, default_value_t = 19_456, value_name = "KIB",
          value_parser = clap::value_parser!(u32).range(19_456..=1_048_576))]
    pub argon2_memory: u32,

    /// Passes of one password hash (Argon2id).
    #[arg(long, env = "LATCHKEY_ARGON2_PASSES", global = true, default_value_t = 2, value_name = "N",
          value_parser = clap::value_parser!(u32).range(2..=100))]
    pub argon2_passes: u32,

    /// The largest number of password hashes computed at once; sign-ups have as many of their own
    /// [default: the number of cores].
    #[arg(long, env = "LATCHKEY_ARGON2_PERMITS", global = true, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub argon2_permits: Option<usize>,
}

impl AccountKeySettings {
    /// Returns the account key, or `None` if neither setting is set. Fails if both are set, the file cannot
    /// be read, or the key is malformed.
    pub fn read(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        let (key, file) = (&self.account_key, &self.account_key_file);
        read_key("ACCOUNT_KEY", key.as_deref(), file.as_deref())
    }

    /// Returns the account key, for programs that do not generate one. Fails like [`read`](Self::read), and
    /// if neither setting is set.
    pub fn required(&self) -> Result<SealingKey, InvalidSetting> {
        self.read()?.ok_or_else(|| {
            InvalidSetting(
                "ACCOUNT_KEY is not set: set it, or ACCOUNT_KEY_FILE, to 32 random bytes in base64url, the same for \
                 every auth-server and api-server"
                    .to_owned(),
            )
        })
    }
}

impl SessionSettings {
    /// Fails if the idle lifetime exceeds the absolute lifetime.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        if self.session_idle > self.session_max {
            return Err(InvalidSetting(
                "SESSION_IDLE is longer than SESSION_MAX: shorten it".to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the lifetimes of sessions.
    pub fn lifetimes(&self) -> SessionLifetimes {
        SessionLifetimes {
            idle: self.session_idle,
            absolute: self.session_max,
        }
    }
}

impl MailedLinkSettings {
    /// Returns the lifetimes of the links in mails.
    pub fn lifetimes(&self) -> mailed_tokens::Lifetimes {
        mailed_tokens::Lifetimes {
            password_reset: self.reset_link_lifetime,
            email_verification: self.email_link_lifetime,
        }
    }
}

impl PasswordSettings {
    /// Returns the minimum length of new passwords and the cost of hashing. By default, as many hashes are
    /// computed at once as there are cores.
    pub fn policy(&self) -> passwords::Policy {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        passwords::Policy {
            memory_kib: self.argon2_memory,
            passes: self.argon2_passes,
            permits: self.argon2_permits.unwrap_or(cores),
            min_length: self.password_min_length,
        }
    }
}
