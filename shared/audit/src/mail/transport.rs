//! What takes mails away: an SMTP server (RFC 5321), or a folder.

use crate::mail::message::Unsendable;
use foundation::private_files::{self, Existing};
use lettre::transport::smtp;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// How long the server may take for one answer.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// Where mails go.
#[derive(Clone, Debug)]
pub enum Transport {
    /// To an SMTP server.
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    /// Into files of this folder.
    Outbox(PathBuf),
}

/// An SMTP server: `smtps://[USER:PASSWORD@]HOST[:PORT]`, or `smtp://…` with `?tls=required` or without TLS.
#[derive(Clone)]
pub struct SmtpUrl(Url);

/// Why a mail is not out. Says nothing of the mail: servers like to repeat the address.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server refuses it, for now or for good.
    #[error("the SMTP server answered {0}")]
    Refused(String),
    /// The server cannot be reached, or not securely.
    #[error("the SMTP server: {0}")]
    Unreachable(&'static str),
    /// The folder cannot be written to.
    #[error("the outbox: {0}")]
    Outbox(#[from] io::Error),
    /// The address is none, or the mail was sealed under another key.
    #[error("it is no mail that can be sent")]
    Unsendable,
}

impl Transport {
    /// To an SMTP server; needs a running tokio when it is used. The error is for whoever set it.
    pub fn smtp(url: &SmtpUrl) -> Result<Self, String> {
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.0.as_str());
        let builder = builder.map_err(|error| error.to_string())?;
        Ok(Self::Smtp(builder.timeout(Some(SMTP_TIMEOUT)).build()))
    }

    /// Into the folder `outbox` of this one, which is made.
    pub fn outbox(data_dir: &Path) -> io::Result<Self> {
        let folder = data_dir.join("outbox");
        private_files::create_dir(&folder)?;
        Ok(Self::Outbox(folder))
    }

    /// Hands a message over. In the outbox its file has this name, and takes the place of one of the same.
    pub(super) async fn send(&self, message: Message, name: &str) -> Result<(), Failure> {
        match self {
            Self::Smtp(server) => Ok(server.send(message).await.map(|_| ())?),
            Self::Outbox(folder) => {
                let path = folder.join(format!("{name}.eml"));
                let write = move || private_files::write(&path, &message.formatted(), Existing::Replaced);
                let written = tokio::task::spawn_blocking(write).await;
                written.map_err(io::Error::other)??;
                tracing::info!(file = format!("outbox/{name}.eml"), "a mail is in the outbox");
                Ok(())
            }
        }
    }
}

impl SmtpUrl {
    /// Whether everything that is said travels in clear, or may, to a host that is not this one.
    pub fn is_exposed(&self) -> bool {
        let requires_tls = self.0.scheme() == "smtps"
            || self
                .0
                .query_pairs()
                .any(|pair| pair == ("tls".into(), "required".into()));
        !requires_tls && !self.is_on_loopback()
    }

    fn is_on_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }
}

impl FromStr for SmtpUrl {
    type Err = String;

    /// Reads a URL; the error repeats nothing of it, since it may hold a password.
    fn from_str(text: &str) -> Result<Self, String> {
        let how = "it is written smtps://[USER:PASSWORD@]HOST[:PORT] or smtp://HOST[:PORT]?tls=required";
        let url = Url::parse(text).map_err(|error| format!("{error}; {how}"))?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if !matches!(url.scheme(), "smtp" | "smtps") || !has_host || url.fragment().is_some() {
            return Err(how.to_owned());
        }
        let known = ["required", "opportunistic"];
        if url
            .query_pairs()
            .any(|(name, value)| name != "tls" || !known.contains(&&*value))
        {
            return Err(format!(
                "of the query only tls=required or tls=opportunistic is known; {how}"
            ));
        }
        if url.username().is_empty() != url.password().is_none() {
            return Err(format!("a user has a password; {how}"));
        }
        Ok(Self(url))
    }
}

impl std::fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SmtpUrl(…)")
    }
}

impl From<smtp::Error> for Failure {
    fn from(error: smtp::Error) -> Self {
        match error.status() {
            Some(code) => Self::Refused(code.to_string()),
            None if error.is_tls() => Self::Unreachable("TLS failed"),
            None if error.is_timeout() => Self::Unreachable("no answer in time"),
            None if error.is_response() => Self::Unreachable("an answer that is none"),
            None if error.is_client() => Self::Unreachable("it cannot do what is asked of it"),
            None => Self::Unreachable("no connection"),
        }
    }
}

impl From<Unsendable> for Failure {
    fn from(_: Unsendable) -> Self {
        Self::Unsendable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_repeating_it(
            before in r"(smtps?://)?\PC{0,16}",
            after in r"\PC{0,16}",
        ) {
            if let Err(error) = SmtpUrl::from_str(&format!("{before}hunter2{after}")) {
                prop_assert!(!error.contains("hunter2"));
            }
        }
    }

    #[test]
    fn what_travels_in_clear_to_another_host_is_known() {
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
    fn what_is_no_smtp_server_is_refused() {
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
