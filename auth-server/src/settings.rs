//! The issuer's own settings.

mod alerts;
mod brand;
mod mail;
mod master_key;

pub use self::mail::MailSettings;
pub use alerts::AlertSettings;
pub use brand::BrandSettings;
pub use issuer::grants::TokenLifetimeSettings;
pub use issuer::keys::SigningKeySettings;
pub use master_key::MasterKeySettings;

use clap::{Args, ValueEnum};
use foundation::settings::InvalidSetting;
use issuer::clients::assertions::AssertionAudience;
use issuer::clients::documents::DocumentHosts;
use issuer::grants::{PushedRequestMode, TokenLifetimes};
use issuer::registrations::ClientRegistration;
use runtime::settings::CommonSettings;

/// The settings of the issuer, besides those that every program has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Settings of the issuer")]
pub struct IssuerSettings {
    /// The master key.
    #[command(flatten)]
    pub master_key: MasterKeySettings,
    /// The lifetimes of codes and tokens.
    #[command(flatten)]
    pub token_lifetimes: TokenLifetimeSettings,
    /// Signing keys and their publication.
    #[command(flatten)]
    pub signing_keys: SigningKeySettings,
    /// Security events and alerts.
    #[command(flatten)]
    pub alerts: AlertSettings,
    /// Outgoing mail.
    #[command(flatten)]
    pub mail: MailSettings,
    /// The branding of the pages.
    #[command(flatten)]
    pub brand: BrandSettings,
    /// Whether apps can push their authorization requests (RFC 9126): `required` means that every app must.
    #[arg(
        long,
        env = "LATCHKEY_PUSHED_AUTHORIZATION_REQUESTS",
        global = true,
        default_value = "on",
        value_name = "MODE"
    )]
    pub pushed_authorization_requests: PushedRequestMode,
    /// Whether apps on devices without a browser can use the device authorization grant (RFC 8628). Each app
    /// must also be registered for it.
    #[arg(
        long,
        env = "LATCHKEY_DEVICE_AUTHORIZATION",
        global = true,
        default_value = "on",
        value_name = "MODE"
    )]
    pub device_authorization: DeviceAuthorizationMode,
    /// The callers that may register clients at `/register` (RFC 7591): nobody, those with an initial access
    /// token of an administrator, or anybody within limits.
    #[arg(
        long,
        env = "LATCHKEY_CLIENT_REGISTRATION",
        global = true,
        default_value = "off",
        value_name = "CALLERS"
    )]
    pub client_registration: ClientRegistration,
    /// The `aud` that the assertions of apps may have: `any` means the issuer's URL or that of `/token` or
    /// `/par`, or a list of these, `issuer` the issuer's URL as a string, as FAPI 2.0 requires.
    #[arg(
        long,
        env = "LATCHKEY_CLIENT_ASSERTION_AUDIENCE",
        global = true,
        default_value = "any",
        value_name = "AUDIENCE"
    )]
    pub client_assertion_audience: AssertionAudience,
    /// The apps that may describe themselves by a document at their client_id, a URL: off, any, or the hosts
    /// of these URLs, separated by commas.
    #[arg(
        long,
        env = "LATCHKEY_CLIENT_ID_METADATA_DOCUMENTS",
        global = true,
        default_value = "off",
        value_name = "HOSTS"
    )]
    pub client_id_metadata_documents: DocumentHosts,
}

/// The setting of the device authorization grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceAuthorizationMode {
    /// The registered apps may use it.
    On,
    /// Its endpoint and its page do not exist.
    Off,
}

impl IssuerSettings {
    /// Fails with the first setting that cannot work, or that would be insecure in production.
    pub fn check(&self, common: &CommonSettings) -> Result<(), InvalidSetting> {
        common.check()?;
        self.token_lifetimes.check()?;
        self.signing_keys.check()?;
        self.alerts.check()?;
        self.mail.check(common.network.is_production())?;
        self.brand.brand()?;
        self.check_documents()?;
        self.master_key.check()
    }

    /// Fails if apps that describe themselves could not sign anybody in.
    fn check_documents(&self) -> Result<(), InvalidSetting> {
        let must_push = self.pushed_authorization_requests == PushedRequestMode::Required;
        if must_push && !self.client_id_metadata_documents.is_off() {
            return Err(InvalidSetting(
                "PUSHED_AUTHORIZATION_REQUESTS=required and CLIENT_ID_METADATA_DOCUMENTS exclude each other: an app whose \
                 document was never fetched cannot push its first request. Change one of them."
                    .to_owned(),
            ));
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The help does not show the values of settings that hold secrets, URLs with passwords included.
    #[test]
    fn the_settings_with_a_file_form_and_no_others_are_hidden() {
        let command =
            IssuerSettings::augment_args(CommonSettings::augment_args(clap::Command::new("program")));
        let flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        let hidden = command.get_arguments().filter(|arg| arg.is_hide_env_values_set());
        let secrets: Vec<&str> = hidden.filter_map(clap::Arg::get_long).collect();
        // The headers of OTLP are set by a file only.
        let with_file = flags.iter().filter_map(|flag| flag.strip_suffix("-file"));
        let with_file = with_file.filter(|name| flags.contains(name));
        assert_eq!(secrets, with_file.collect::<Vec<_>>());
        assert_eq!(secrets.len(), 9, "{secrets:?}");
    }
}
