//! Settings of the signing keys.

use clap::Args;
use foundation::duration::parse_duration;
use foundation::settings::InvalidSetting;
use std::time::Duration;

/// Settings of the signing keys and their publication.
#[derive(Args, Clone, Debug)]
pub struct SigningKeySettings {
    /// The time for which clients may cache the JWKS.
    #[arg(long, env = "LATCHKEY_JWKS_MAX_AGE", global = true, default_value = "300s", value_name = "TIME",
          value_parser = parse_duration)]
    pub jwks_max_age: Duration,

    /// The age at which the next signing key replaces the active one.
    #[arg(long, env = "LATCHKEY_SIGNING_KEY_LIFETIME", global = true, default_value = "30d", value_name = "TIME",
          value_parser = parse_duration)]
    pub signing_key_lifetime: Duration,

    /// The size of new signing keys: 2048, 3072 or 4096.
    #[arg(long, env = "LATCHKEY_KEY_BITS", global = true, default_value = "2048", value_name = "BITS",
          value_parser = parse_bits)]
    pub key_bits: u32,
}

impl SigningKeySettings {
    /// Fails if a key would be replaced before its successor is published everywhere.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        if self.jwks_max_age > self.signing_key_lifetime {
            return Err(InvalidSetting(
                "JWKS_MAX_AGE is longer than SIGNING_KEY_LIFETIME: the next key would not be published in time"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

fn parse_bits(text: &str) -> Result<u32, String> {
    match text {
        "2048" => Ok(2048),
        "3072" => Ok(3072),
        "4096" => Ok(4096),
        _ => Err("a signing key has 2048, 3072 or 4096 bits".to_owned()),
    }
}
