//! Settings of what is beside the password at a sign-in.

use super::{Invalid, read_secret};
use crate::identity::captcha::{Captcha, Service};
use crate::identity::lockout::Throttles;
use crate::outbound;
use clap::Args;
use std::path::PathBuf;
use url::Url;

/// How many failed sign-ins are too many, beside the five of one account from one address; and the captcha.
#[derive(Args, Clone, Debug)]
pub struct SignIn {
    /// Failed sign-ins to one account from anywhere, an hour. Where a user signed in before they do not count.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ACCOUNT", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_account: usize,

    /// Failed sign-ins from one address (IPv6: one /64) in 15 minutes, whichever the account.
    #[arg(long, env = "LATCHKEY_LOGIN_FAILURES_ADDRESS", global = true, default_value_t = 100, value_name = "N",
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=10_000))]
    pub login_failures_address: usize,

    /// Where a captcha's answers are verified (`siteverify`): it is asked for after repeated failures [default: none
    /// is].
    #[arg(long, env = "LATCHKEY_CAPTCHA_VERIFY_URL", global = true, value_name = "URL")]
    pub captcha_verify_url: Option<Url>,

    /// What the captcha's service knows us by.
    #[arg(
        long,
        env = "LATCHKEY_CAPTCHA_SECRET",
        global = true,
        value_name = "SECRET",
        hide_env_values = true
    )]
    pub captcha_secret: Option<String>,

    /// The same, in a file.
    #[arg(
        long,
        env = "LATCHKEY_CAPTCHA_SECRET_FILE",
        global = true,
        value_name = "FILE"
    )]
    pub captcha_secret_file: Option<PathBuf>,

    /// What the captcha's widget knows us by.
    #[arg(long, env = "LATCHKEY_CAPTCHA_SITE_KEY", global = true, value_name = "KEY")]
    pub captcha_site_key: Option<String>,

    /// The script of the captcha's widget, for the sign-in page [default: it shows no widget].
    #[arg(long, env = "LATCHKEY_CAPTCHA_SCRIPT_URL", global = true, value_name = "URL")]
    pub captcha_script_url: Option<Url>,
}

impl SignIn {
    /// The throttles.
    pub fn throttles(&self) -> Throttles {
        Throttles {
            account: self.login_failures_account,
            address: self.login_failures_address,
        }
    }

    /// The captcha, if one is set up. A part of its settings is refused.
    pub fn captcha(&self) -> Result<Option<Captcha>, Invalid> {
        let secret = read_secret(
            "CAPTCHA_SECRET",
            self.captcha_secret.as_deref(),
            self.captcha_secret_file.as_deref(),
        )?;
        let refuse = |what: &str| Err(Invalid(what.to_owned()));
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
        let is_readable = |url: &Url| !outbound::is_private(url);
        if is_readable(&service.verify_url) || service.script_url.as_ref().is_some_and(is_readable) {
            return refuse(
                "CAPTCHA_VERIFY_URL and CAPTCHA_SCRIPT_URL must be https, or of this very machine",
            );
        }
        Captcha::new(service)
            .map(Some)
            .map_err(|error| Invalid(error.to_string()))
    }
}
