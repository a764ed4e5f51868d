//! Settings of sign-in: the limits of failed attempts, and the captcha.

use crate::captcha::{Captcha, ServiceSettings, parse_source};
use crate::lockout::Throttles;
use clap::Args;
use foundation::settings::{InvalidSetting, read_secret};
use foundation::urls::{origin_of, parse_http_url};
use std::path::PathBuf;
use url::Url;

/// The limits of failed sign-ins, and the captcha.
#[derive(Args, Clone, Debug)]
pub struct SignInSettings {
    /// The largest number of failed sign-ins to one account from all addresses, per hour. Networks from which
    /// the user signed in during the last 90 days are exempt.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ACCOUNT", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_account: usize,

    /// The largest number of failed sign-ins from one address (IPv6: one /64) to any account, per 15 minutes.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ADDRESS", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_address: usize,

    /// The `siteverify` URL of the captcha service, such as that of Turnstile, hCaptcha or reCAPTCHA; a
    /// captcha is required after repeated failures [default: no captcha].
    #[arg(long, env = "LATCHKEY_CAPTCHA_VERIFY_URL", global = true, value_name = "URL",
          value_parser = parse_http_url)]
    pub captcha_verify_url: Option<Url>,

    /// The secret that authenticates this installation to the captcha service.
    #[arg(
        long,
        env = "LATCHKEY_CAPTCHA_SECRET",
        global = true,
        value_name = "SECRET",
        hide_env_values = true,
        allow_hyphen_values = true
    )]
    pub captcha_secret: Option<String>,

    /// A file with the captcha secret.
    #[arg(
        long,
        env = "LATCHKEY_CAPTCHA_SECRET_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub captcha_secret_file: Option<PathBuf>,

    /// The public site key of the captcha widget.
    #[arg(long, env = "LATCHKEY_CAPTCHA_SITE_KEY", global = true, value_name = "KEY")]
    pub captcha_site_key: Option<String>,

    /// The script of the captcha widget on the sign-in page [default: the page shows no widget].
    #[arg(long, env = "LATCHKEY_CAPTCHA_SCRIPT_URL", global = true, value_name = "URL",
          value_parser = parse_http_url)]
    pub captcha_script_url: Option<Url>,

    /// The origins that the captcha widget needs, as sources of a content security policy separated by
    /// commas, such as `https://*.example.org`: it may load scripts, styles and frames from them and send
    /// requests to them [default: the origin of the script].
    #[arg(long, env = "LATCHKEY_CAPTCHA_SOURCES", global = true, value_delimiter = ',', value_name = "SOURCE",
          value_parser = parse_source)]
    pub captcha_sources: Vec<String>,
}

impl SignInSettings {
    /// Returns the limits on failed sign-ins.
    pub fn throttles(&self) -> Throttles {
        Throttles {
            account: self.login_failures_account,
            network: self.login_failures_address,
        }
    }

    /// Returns the captcha, if one is configured. Fails if only some of its settings are set, if the secret
    /// cannot be read, if a URL is neither https nor http on a loopback host, or if the HTTP client cannot be
    /// built.
    pub fn captcha(&self) -> Result<Option<Captcha>, InvalidSetting> {
        let (secret, file) = (&self.captcha_secret, &self.captcha_secret_file);
        let secret = read_secret("CAPTCHA_SECRET", secret.as_deref(), file.as_deref())?;
        let invalid = |message: &str| Err(InvalidSetting(message.to_owned()));
        let script_url = self.captcha_script_url.clone();
        let sources = match &script_url {
            Some(url) if self.captcha_sources.is_empty() => origin_of(url),
            _ => self.captcha_sources.join(" "),
        };
        let service = match (&self.captcha_verify_url, secret, &self.captcha_site_key) {
            (Some(verify_url), Some(secret), Some(site_key)) => ServiceSettings {
                verify_url: verify_url.clone(),
                secret,
                site_key: site_key.clone(),
                script_url,
                sources,
            },
            (None, None, None) if script_url.is_none() && sources.is_empty() => return Ok(None),
            _ => {
                return invalid(
                    "a captcha needs CAPTCHA_VERIFY_URL, CAPTCHA_SECRET or CAPTCHA_SECRET_FILE, and \
                     CAPTCHA_SITE_KEY: set all of them, or none",
                );
            }
        };
        let is_plaintext = |url: &Url| !http_client::is_confidential(url);
        if is_plaintext(&service.verify_url) || service.script_url.as_ref().is_some_and(is_plaintext) {
            return invalid(
                "CAPTCHA_VERIFY_URL and CAPTCHA_SCRIPT_URL must be https URLs, or http URLs of a loopback host",
            );
        }
        Captcha::new(service)
            .map(Some)
            .map_err(|error| InvalidSetting(error.to_string()))
    }
}
