//! The lifetimes of codes and tokens, the number of refresh token families, and their settings.

use crate::keys::MAX_ACCESS_TOKEN_LIFETIME;
use clap::Args;
use foundation::duration::parse_duration;
use foundation::settings::InvalidSetting;
use identity::refresh_families;
use std::time::Duration;

/// The longest lifetime of an authorization code, as recommended by RFC 6749 §4.1.2.
const MAX_CODE_LIFETIME: Duration = Duration::from_secs(600);

/// The lifetimes of codes and tokens, and of cached copies of the JWKS.
#[derive(Clone, Copy, Debug)]
pub struct TokenLifetimes {
    /// The lifetime of access tokens, 600 s at most.
    pub access_token: Duration,
    /// The lifetime of authorization codes, 600 s at most.
    pub code: Duration,
    /// The lifetimes of refresh tokens and their families.
    pub refresh: refresh_families::Lifetimes,
    /// The largest number of families of one user with one client.
    pub max_families: u32,
    /// The time for which clients may cache the JWKS.
    pub jwks_max_age: Duration,
}

/// Settings of the lifetimes of codes and tokens.
#[derive(Args, Clone, Debug)]
pub struct TokenLifetimeSettings {
    /// The lifetime of access tokens; 600s at most.
    #[arg(long, env = "LATCHKEY_ACCESS_TOKEN_LIFETIME", global = true, default_value = "600s", value_name = "TIME",
          value_parser = parse_duration)]
    pub access_token_lifetime: Duration,

    /// The lifetime of authorization codes; 600s at most.
    #[arg(long, env = "LATCHKEY_CODE_LIFETIME", global = true, default_value = "60s", value_name = "TIME",
          value_parser = parse_duration)]
    pub code_lifetime: Duration,

    /// The lifetime of an unused refresh token.
    #[arg(long, env = "LATCHKEY_REFRESH_TOKEN_IDLE", global = true, default_value = "14d", value_name = "TIME",
          value_parser = parse_duration)]
    pub refresh_token_idle: Duration,

    /// The lifetime of a family of refresh tokens, from the first token on; rotation does not extend it.
    #[arg(long, env = "LATCHKEY_REFRESH_TOKEN_MAX", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub refresh_token_max: Duration,

    /// The largest number of families of refresh tokens of one user with one app; a further one ends the one
    /// that has been unused for the longest time.
    #[arg(long, env = "LATCHKEY_MAX_REFRESH_FAMILIES", global = true, default_value_t = 50, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_refresh_families: u32,
}

impl TokenLifetimeSettings {
    /// Fails if a lifetime exceeds its maximum, or the idle lifetime exceeds that of the family.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let invalid = |message: &str| Err(InvalidSetting(message.to_owned()));
        if self.access_token_lifetime > MAX_ACCESS_TOKEN_LIFETIME {
            return invalid(
                "ACCESS_TOKEN_LIFETIME exceeds 600s: the API rejects access tokens older than 600s",
            );
        }
        if self.code_lifetime > MAX_CODE_LIFETIME {
            return invalid("CODE_LIFETIME exceeds 600s, the maximum that RFC 6749 §4.1.2 recommends");
        }
        if self.refresh_token_idle > self.refresh_token_max {
            return invalid("REFRESH_TOKEN_IDLE is longer than REFRESH_TOKEN_MAX");
        }
        Ok(())
    }

    /// Returns the lifetimes. `jwks_max_age` comes from the signing key settings.
    pub fn lifetimes(&self, jwks_max_age: Duration) -> TokenLifetimes {
        TokenLifetimes {
            access_token: self.access_token_lifetime,
            code: self.code_lifetime,
            refresh: refresh_families::Lifetimes {
                idle: self.refresh_token_idle,
                absolute: self.refresh_token_max,
            },
            max_families: self.max_refresh_families,
            jwks_max_age,
        }
    }
}
