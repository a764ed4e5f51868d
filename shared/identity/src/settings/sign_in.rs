//! Settings of what is beside the password at a sign-in.

use crate::captcha::{Captcha, Service};
use crate::lockout::Throttles;
use clap::Args;
use foundation::settings::{InvalidSetting, read_secret};
use std::path::PathBuf;
use url::Url;

/// The limits of failed sign-ins, and the captcha.
#[derive(Args, Clone, Debug)]
pub struct SignInArgs {
    /// Failed sign-ins to one account from anywhere, per hour. They do not count from networks where the user signed
    /// in before.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ACCOUNT", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_account: usize,

    /// Failed sign-ins from one address (IPv6: from one /64) to any account, per 15 minutes.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ADDRESS", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_address: usize,

    /// The `siteverify` URL of the captcha service; a captcha is required after repeated failures [default: no
    /// captcha].
    #[arg(long, env = "LATCHKEY_CAPTCHA_VERIFY_URL", global = true, value_name = "URL")]
    pub captcha_verify_url: Option<Url>,

    /// The secret that authenticates this installation to the captcha service.
    #[arg(
        long,
        env = "LATCHKEY_CAPTCHA_SECRET",
        global = true,
        value_name = "SECRET",
        hide_env_values = true
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
    #[arg(long, env = "LATCHKEY_CAPTCHA_SCRIPT_URL", global = true, value_name = "URL")]
    pub captcha_script_url: Option<Url>,
}

impl SignInArgs {
    /// The throttles.
    pub fn throttles(&self) -> Throttles {
        Throttles {
            account: self.login_failures_account,
            address: self.login_failures_address,
        }
    }

    /// The captcha, if one is set up. A part of its settings is refused.
    pub fn captcha(&self) -> Result<Option<Captcha>, InvalidSetting> {
        let secret = read_secret(
            "CAPTCHA_SECRET",
            self.captcha_secret.as_deref(),
            self.captcha_secret_file.as_deref(),
        )?;
        let refuse = |what: &str| Err(InvalidSetting(what.to_owned()));
        let script_url = self.captcha_script_url.clone();
        let service = match (&self.captcha_verify_url, secret, &self.captcha_site_key) {
            (Some(verify_url), Some(secret), Some(site_key)) => Service {
                verify_url: verify_url.clone(),
                secret,
                site_key: site_key.clone(),
                script_url,
            },
            (None, None, None) if script_url.is_none() => return Ok(None),
            _ => {
                return refuse(
                    "a captcha needs CAPTCHA_VERIFY_URL, CAPTCHA_SECRET or CAPTCHA_SECRET_FILE, and \
                     CAPTCHA_SITE_KEY: set all of them, or none",
                );
            }
        };
        let is_readable = |url: &Url| !http_client::is_confidential(url);
        if is_readable(&service.verify_url) || service.script_url.as_ref().is_some_and(is_readable) {
            return refuse(
                "CAPTCHA_VERIFY_URL and CAPTCHA_SCRIPT_URL must be https URLs, or http URLs of a loopback host",
            );
        }
        Captcha::new(service)
            .map(Some)
            .map_err(|error| InvalidSetting(error.to_string()))
    }
}
