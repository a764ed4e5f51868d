//! The issuer's own settings.

mod alerting;

pub use alerting::Alerting;

use crate::grants::Lifetimes;
use clap::Args;
use shared::config::{Common, Invalid, parse_duration, read_key};
use shared::grants::families;
use shared::mail::{Address, Mailbox, Post, SmtpUrl};
use shared::seal::SealingKey;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// RFC 9068 tokens that the API refuses when they are older would be useless.
const MAX_ACCESS_TOKEN: Duration = Duration::from_secs(600);

/// What the issuer is told beyond what every program is.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of the issuer")]
pub struct Settings {
    /// The key that seals signing keys and makes refresh tokens: 32 random bytes, base64url.
    #[arg(
        long,
        env = "LATCHKEY_MASTER_KEY",
        global = true,
        value_name = "KEY",
        hide_env_values = true
    )]
    pub master_key: Option<String>,

    /// The same, in a file.
    #[arg(long, env = "LATCHKEY_MASTER_KEY_FILE", global = true, value_name = "FILE")]
    pub master_key_file: Option<PathBuf>,

    /// How long an access token lives; 600s at most.
    #[arg(long, env = "LATCHKEY_ACCESS_TOKEN_LIFETIME", global = true, default_value = "600s", value_name = "TIME",
          value_parser = parse_duration)]
    pub access_token_lifetime: Duration,

    /// How long an authorization code lives.
    #[arg(long, env = "LATCHKEY_CODE_LIFETIME", global = true, default_value = "60s", value_name = "TIME",
          value_parser = parse_duration)]
    pub code_lifetime: Duration,

    /// How long a refresh token lives unused.
    #[arg(long, env = "LATCHKEY_REFRESH_TOKEN_IDLE", global = true, default_value = "14d", value_name = "TIME",
          value_parser = parse_duration)]
    pub refresh_token_idle: Duration,

    /// How long refresh tokens live from the first on, however often they rotate.
    #[arg(long, env = "LATCHKEY_REFRESH_TOKEN_MAX", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub refresh_token_max: Duration,

    /// How long clients may cache the JWKS.
    #[arg(long, env = "LATCHKEY_JWKS_MAX_AGE", global = true, default_value = "300s", value_name = "TIME",
          value_parser = parse_duration)]
    pub jwks_max_age: Duration,

    /// How old the signing key becomes before the next one takes over.
    #[arg(long, env = "LATCHKEY_SIGNING_KEY_LIFETIME", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub signing_key_lifetime: Duration,

    /// Size of new signing keys: 2048, 3072 or 4096.
    #[arg(long, env = "LATCHKEY_KEY_BITS", global = true, default_value = "2048", value_name = "BITS",
          value_parser = parse_bits)]
    pub key_bits: u32,

    /// Security events and alerts.
    #[command(flatten)]
    pub alerting: Alerting,
    /// Where mails go: `smtps://[USER:PASSWORD@]HOST[:PORT]` or `smtp://…?tls=required` [default: DATA_DIR/outbox].
    #[arg(
        long,
        env = "LATCHKEY_SMTP_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub smtp_url: Option<SmtpUrl>,

    /// Whom mails are from, such as `Latchkey <no-reply@example.org>` [default: latchkey@HOST of the issuer].
    #[arg(long, env = "LATCHKEY_MAIL_FROM", global = true, value_name = "ADDRESS")]
    pub mail_from: Option<Mailbox>,
}

impl Settings {
    /// Refuses what cannot work, and what would be insecure where others can reach it.
    pub fn check(&self, common: &Common) -> Result<(), Invalid> {
        common.check()?;
        let refuse = |what: &str| Err(Invalid(what.to_owned()));
        if self.access_token_lifetime > MAX_ACCESS_TOKEN {
            return refuse("ACCESS_TOKEN_LIFETIME is over 600s: the API accepts no older token");
        }
        if self.code_lifetime > MAX_ACCESS_TOKEN {
            return refuse("CODE_LIFETIME is over 600s (RFC 6749 §4.1.2)");
        }
        if self.refresh_token_idle > self.refresh_token_max {
            return refuse("REFRESH_TOKEN_IDLE is longer than REFRESH_TOKEN_MAX");
        }
        if self.jwks_max_age > self.signing_key_lifetime {
            return refuse(
                "JWKS_MAX_AGE is longer than SIGNING_KEY_LIFETIME: no next key would be known in time to sign",
            );
        }
        self.alerting.check()?;
        if common.is_production() && self.smtp_url.as_ref().is_some_and(SmtpUrl::is_exposed) {
            return refuse(
                "SMTP_URL sends mails in clear, links included: write smtps://… or smtp://…?tls=required",
            );
        }
        self.master_key().map(|_| ())
    }

    /// Where mails go.
    pub(crate) fn post(&self, data_dir: &Path) -> Result<Post, Invalid> {
        match &self.smtp_url {
            Some(url) => Post::smtp(url).map_err(|error| Invalid(format!("SMTP_URL: {error}"))),
            None => {
                tracing::info!("SMTP_URL is not set: mails are written into files in DATA_DIR/outbox");
                Post::outbox(data_dir)
                    .map_err(|error| Invalid(format!("DATA_DIR {}: outbox: {error}", data_dir.display())))
            }
        }
    }

    /// Whom mails are from.
    pub(crate) fn sender(&self, issuer: &str) -> Mailbox {
        self.mail_from.clone().unwrap_or_else(|| {
            let url = Url::parse(issuer).ok();
            let host = url.as_ref().and_then(Url::host_str).unwrap_or("localhost");
            // The host of a URL is ASCII, and has nothing that ends an address.
            Mailbox::new(
                Some("Latchkey".to_owned()),
                Address::new_dangerous("latchkey", host),
            )
        })
    }

    /// The master key, if one was given.
    pub fn master_key(&self) -> Result<Option<SealingKey>, Invalid> {
        read_key(
            "MASTER_KEY",
            self.master_key.as_deref(),
            self.master_key_file.as_deref(),
        )
    }

    /// How long what the issuer gives lives.
    pub(crate) fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            access_token: self.access_token_lifetime,
            code: self.code_lifetime,
            refresh: families::Lifetimes {
                idle: self.refresh_token_idle,
                absolute: self.refresh_token_max,
            },
            jwks_max_age: self.jwks_max_age,
        }
    }
}

/// What is said where the issuer has no master key and makes none.
pub fn no_master_key() -> Invalid {
    Invalid("MASTER_KEY is not set: give it, or MASTER_KEY_FILE, 32 random bytes in base64url".to_owned())
}

fn parse_bits(text: &str) -> Result<u32, String> {
    match text {
        "2048" => Ok(2048),
        "3072" => Ok(3072),
        "4096" => Ok(4096),
        _ => Err("a signing key has 2048, 3072 or 4096 bits".to_owned()),
    }
}
