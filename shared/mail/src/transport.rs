//! The destinations of mails: an SMTP server (RFC 5321) or a directory.

use foundation::private_files::{self, Existing};
use foundation::random;
use lettre::transport::smtp;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// The name of the directory of mails in the data directory.
pub const OUTBOX: &str = "outbox";
/// The time limit for each response of the server.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// The destination of mails.
#[derive(Clone, Debug)]
pub enum Transport {
    /// An SMTP server.
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    /// A directory that receives each mail as a file.
    Directory(PathBuf),
}

/// The URL of an SMTP server: `smtps://[USER:PASSWORD@]HOST[:PORT]`, or `smtp://…` with `?tls=required`, with
/// `?tls=opportunistic` or, without TLS, with no query.
#[derive(Clone)]
pub struct SmtpUrl(Url);

/// The reason why a mail was not sent. Contains no text from the server, which may repeat the recipient's
/// address.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The server rejected the mail, temporarily or permanently.
    #[error("the SMTP server responded with code {0}")]
    Rejected(String),
    /// The connection to the server failed.
    #[error("SMTP connection: {0}")]
    Connection(&'static str),
    /// The directory cannot be written to.
    #[error("mail directory: {0}")]
    Directory(#[from] io::Error),
    /// The address is invalid, or the mail was sealed under another key.
    #[error("the recipient address is invalid, or the mail was sealed under another key")]
    Unsendable,
}

impl Transport {
    /// Creates a transport to an SMTP server, without connecting. Fails if the URL is not supported.
    pub fn smtp(url: &SmtpUrl) -> Result<Self, String> {
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.0.as_str());
        let builder = builder.map_err(|error| error.to_string())?;
        Ok(Self::Smtp(builder.timeout(Some(SMTP_TIMEOUT)).build()))
    }

    /// Creates a transport to the directory [`OUTBOX`] in `data_dir`. Creates the directory if it is missing.
    pub fn directory(data_dir: &Path) -> io::Result<Self> {
        let directory = data_dir.join(OUTBOX);
        private_files::create_dir(&directory)?;
        Ok(Self::Directory(directory))
    }

    /// Connects to the server, with the TLS and the login of its URL, and sends no mail. Writes a file into
    /// the directory and deletes it.
    pub async fn check(&self) -> Result<(), SendError> {
        match self {
            Self::Smtp(server) => match server.test_connection().await? {
                true => Ok(()),
                false => Err(SendError::Connection("the server ended the connection")),
            },
            Self::Directory(directory) => {
                let path = directory.join(random::id());
                private_files::write(&path, &[], Existing::Replaced)?;
                Ok(std::fs::remove_file(path)?)
            }
        }
    }

    /// Sends a message. In a directory, the message becomes the file `name` with the extension `eml`, which
    /// replaces an existing one.
    pub(super) async fn send(&self, message: Message, name: &str) -> Result<(), SendError> {
        match self {
            Self::Smtp(server) => Ok(server.send(message).await.map(|_| ())?),
            Self::Directory(directory) => {
                let path = directory.join(format!("{name}.eml"));
                let write = move || private_files::write(&path, &message.formatted(), Existing::Replaced);
                let written = tokio::task::spawn_blocking(write).await;
                written.map_err(io::Error::other)??;
                tracing::info!(
                    detail = format!("outbox/{name}.eml"),
                    "a mail was written to a file"
                );
                Ok(())
            }
        }
    }
}

impl SmtpUrl {
    /// Returns whether mails may travel unencrypted to another host.
    pub fn is_exposed(&self) -> bool {
        let requires_tls = self.0.scheme() == "smtps"
            || self
                .0
                .query_pairs()
                .any(|pair| pair == ("tls".into(), "required".into()));
        !requires_tls && !self.is_on_loopback()
    }

    fn is_on_loopback(&self) -> bool {
        // `Url::host` recognizes IPv4 addresses only in URLs of special schemes such as http.
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for SmtpUrl {
    type Err = String;

    /// Parses a URL. The error does not repeat the URL, which may contain a password.
    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "use smtps://[USER:PASSWORD@]HOST[:PORT] or smtp://HOST[:PORT]?tls=required";
        let url = Url::parse(text).map_err(|error| format!("{error}; {usage}"))?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if !matches!(url.scheme(), "smtp" | "smtps") || !has_host || url.fragment().is_some() {
            return Err(format!("not the URL of an SMTP server; {usage}"));
        }
        let tls_modes = ["required", "opportunistic"];
        if url
            .query_pairs()
            .any(|(name, value)| name != "tls" || !tls_modes.contains(&&*value))
        {
            return Err(format!(
                "the query may contain only tls=required or tls=opportunistic; {usage}"
            ));
        }
        if url.username().is_empty() != url.password().is_none() {
            return Err(format!(
                "the user name and the password must be set together; {usage}"
            ));
        }
        Ok(Self(url))
    }
}

foundation::opaque_debug!(SmtpUrl);

impl From<smtp::Error> for SendError {
    fn from(error: smtp::Error) -> Self {
        match error.status() {
            Some(code) => Self::Rejected(code.to_string()),
            None if error.is_tls() => Self::Connection("TLS failed"),
            None if error.is_timeout() => Self::Connection("the server did not respond in time"),
            None if error.is_response() => Self::Connection("the response is not valid SMTP"),
            None if error.is_client() => Self::Connection("the server lacks a required capability"),
            None => Self::Connection("cannot connect"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn errors_do_not_repeat_the_url(
            before in r"(smtps?://)?\PC{0,16}",
            after in r"\PC{0,16}",
        ) {
            if let Err(error) = SmtpUrl::from_str(&format!("{before}hunter2{after}")) {
                prop_assert!(!error.contains("hunter2"));
            }
        }
    }

    #[test]
    fn a_url_without_required_tls_to_another_host_is_exposed() {
        let is_exposed = |text: &str| SmtpUrl::from_str(text).unwrap().is_exposed();
        for text in [
            "smtp://mail.example.org",
            "smtp://192.0.2.1:25",
            "smtp://mail?tls=opportunistic",
        ] {
            assert!(is_exposed(text), "{text}");
        }
        for text in [
            "smtps://mail.example.org",
            "smtp://mail.example.org?tls=required",
            "smtp://localhost:1025",
            "smtp://127.0.0.1",
            "smtp://[::1]:25",
        ] {
            assert!(!is_exposed(text), "{text}");
        }
    }

    #[test]
    fn urls_that_name_no_smtp_server_are_rejected() {
        for text in [
            "mail.example.org",
            "http://mail.example.org",
            "smtp://",
            "smtp://mail?tls=maybe",
            "smtp://mail?x=y",
            "smtp://user@mail",
        ] {
            assert!(SmtpUrl::from_str(text).is_err(), "{text}");
        }
    }
}
