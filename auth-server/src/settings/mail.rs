//! Settings of outgoing mail.

use clap::Args;
use foundation::settings::{InvalidSetting, read_parsed};
use mail::{Address, Mailbox, SmtpUrl, Transport};
use std::path::{Path, PathBuf};
use url::Url;

/// The SMTP server and the sender of mails.
#[derive(Args, Clone, Debug)]
pub struct MailSettings {
    /// The SMTP server: `smtps://[USER:PASSWORD@]HOST[:PORT]` or `smtp://…?tls=required` [default: mails
    /// become files in DATA_DIR/outbox].
    #[arg(
        long,
        env = "LATCHKEY_SMTP_URL",
        global = true,
        value_name = "URL",
        hide_env_values = true
    )]
    pub smtp_url: Option<SmtpUrl>,

    /// A file that contains the URL of the SMTP server.
    #[arg(long, env = "LATCHKEY_SMTP_URL_FILE", global = true, value_name = "FILE")]
    pub smtp_url_file: Option<PathBuf>,

    /// The sender of mails, such as `Latchkey <no-reply@example.org>` [default: the user latchkey at the
    /// issuer's host].
    #[arg(long, env = "LATCHKEY_MAIL_FROM", global = true, value_name = "ADDRESS")]
    pub mail_from: Option<Mailbox>,
}

impl MailSettings {
    /// Fails if the URL of the SMTP server is set twice or malformed, or if mails would leave a production
    /// system unencrypted.
    pub(super) fn check(&self, is_production: bool) -> Result<(), InvalidSetting> {
        let smtp_url = self.smtp_url()?;
        if is_production && smtp_url.as_ref().is_some_and(SmtpUrl::is_exposed) {
            return Err(InvalidSetting(
                "SMTP_URL would send mails, and the links in them, unencrypted: use smtps://… or \
                 smtp://…?tls=required"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the transport of mails: the SMTP server, or files in the data directory. Fails if the SMTP URL
    /// is invalid or the directory cannot be created.
    pub(crate) fn transport(&self, data_dir: &Path) -> Result<Transport, InvalidSetting> {
        match self.smtp_url()? {
            Some(url) => Transport::smtp(&url).map_err(|error| InvalidSetting(format!("SMTP_URL: {error}"))),
            None => {
                tracing::info!("SMTP_URL is not set: mails are written to files in DATA_DIR/outbox");
                Transport::directory(data_dir).map_err(|error| {
                    InvalidSetting(format!("DATA_DIR {}: outbox: {error}", data_dir.display()))
                })
            }
        }
    }

    fn smtp_url(&self) -> Result<Option<SmtpUrl>, InvalidSetting> {
        read_parsed("SMTP_URL", self.smtp_url.as_ref(), self.smtp_url_file.as_deref())
    }

    /// Returns the sender of mails. If none is set, it is `latchkey@` and the host of the URL `issuer`.
    pub(crate) fn sender(&self, issuer: &str) -> Mailbox {
        self.mail_from.clone().unwrap_or_else(|| {
            let url = Url::parse(issuer).ok();
            let host = url.as_ref().and_then(Url::host_str).unwrap_or("localhost");
            // The host of a URL is ASCII without any character that ends an address.
            Mailbox::new(
                Some("Latchkey".to_owned()),
                Address::new_dangerous("latchkey", host),
            )
        })
    }
}
