//! The issuer's own settings.

mod alert_args;
mod mail_args;
mod master_key_args;

pub use alert_args::AlertArgs;
pub use issuer::grants::TokenLifetimeArgs;
pub use issuer::keys::SigningKeyArgs;
pub use mail_args::MailArgs;
pub use master_key_args::MasterKeyArgs;

use clap::Args;
use foundation::sealing::SealingKey;
use foundation::settings::InvalidSetting;
use issuer::grants::TokenLifetimes;
use issuer::keys::MasterKeys;
use runtime::config::CommonArgs;

/// The settings of the issuer, besides those that every program has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of the issuer")]
pub struct IssuerArgs {
    /// The master key.
    #[command(flatten)]
    pub master_key: MasterKeyArgs,
    /// The lifetimes of codes and tokens.
    #[command(flatten)]
    pub token_lifetimes: TokenLifetimeArgs,
    /// Signing keys and their publication.
    #[command(flatten)]
    pub signing_keys: SigningKeyArgs,
    /// Security events and alerts.
    #[command(flatten)]
    pub alerts: AlertArgs,
    /// Outgoing mail.
    #[command(flatten)]
    pub mail: MailArgs,
}

impl IssuerArgs {
    /// Fails with the first setting that cannot work, or that would be insecure in production.
    pub fn check(&self, common: &CommonArgs) -> Result<(), InvalidSetting> {
        common.check()?;
        self.token_lifetimes.check()?;
        self.signing_keys.check()?;
        self.alerts.check()?;
        self.mail.check(common.network.is_production())?;
        self.master_key.check()
    }

    /// Returns the master key, if it is set.
    pub fn master_key(&self) -> Result<Option<SealingKey>, InvalidSetting> {
        self.master_key.read()
    }

    /// Returns the master key `current` with the one that it replaces, if that is set. Fails if the two are the same.
    pub fn master_keys(&self, current: SealingKey) -> Result<MasterKeys, InvalidSetting> {
        self.master_key.with_previous(current)
    }

    /// Returns the lifetimes of codes, tokens and the JWKS.
    pub(crate) fn lifetimes(&self) -> TokenLifetimes {
        self.token_lifetimes.lifetimes(self.signing_keys.jwks_max_age)
    }
}

/// Returns the error for an issuer that needs a master key and has none.
pub fn no_master_key() -> InvalidSetting {
    InvalidSetting(
        "MASTER_KEY is not set: set it or MASTER_KEY_FILE to 32 random bytes in base64url".to_owned(),
    )
}
