//! Mails: written sealed, in the transaction of their cause, so that none is lost and none is sent for what did
//! not happen. [`Delivery`] sends them.

mod delivery;
mod link;
mod message;
mod notice;
mod transport;

pub use delivery::Delivery;
pub use lettre::Address;
pub use lettre::message::Mailbox;
pub use link::Link;
pub use notice::Notice;
pub use transport::{SmtpUrl, Transport};

use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::sealing::{SealingKey, UnsealError};
use foundation::secret::Secret;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use storage::db::{Error, Tx};
use storage::{execute, sql};

sql! {
    INSERT = "INSERT INTO mails (sealed, created_at, due_at, attempts) VALUES ($1, $2, $2, 0)";
    DUE = "SELECT id, due_at FROM mails WHERE due_at <= $1 ORDER BY due_at, id LIMIT 50";
    CLAIM = "UPDATE mails SET due_at = $3, attempts = attempts + 1 WHERE id = $1 AND due_at = $2
             RETURNING id, sealed, created_at, attempts";
    DELETE = "DELETE FROM mails WHERE id = $1 AND due_at = $2";
    PUT_OFF = "UPDATE mails SET due_at = $3 WHERE id = $1 AND due_at = $2";
}

/// What a mail is sealed as.
const SEALED_AS: &str = "mail";

/// A mail to be sent.
#[derive(Debug, Deserialize, Serialize)]
pub struct Mail {
    /// The address; a mail to nobody is written and sealed like any other, and never sent.
    pub to: Option<String>,
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
}

/// Writes mails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mails {
    key: SealingKey,
    issuer: Arc<str>,
}

impl Mails {
    /// Mails sealed under this key, whose links lead to the issuer's pages.
    pub fn new(key: SealingKey, issuer: &str) -> Self {
        Self {
            key,
            issuer: issuer.into(),
        }
    }

    /// Writes a mail in the caller's transaction; it is sent after the commit.
    pub async fn queue(&self, tx: &mut Tx, mail: &Mail, now: Timestamp) -> Result<(), Error> {
        #[allow(clippy::expect_used, reason = "a struct of texts is JSON")]
        let plain = serde_json::to_vec(mail).expect("a mail is written as JSON");
        execute!(tx.on(), INSERT, self.key.seal(SEALED_AS, &plain), now).map(|_| ())
    }

    /// Tells a user what was done to their account, in the caller's transaction.
    pub async fn tell(
        &self,
        tx: &mut Tx,
        email: &str,
        notice: Notice<'_>,
        context: &RequestContext,
    ) -> Result<(), Error> {
        let mail = notice.to_mail(email, &self.issuer, context);
        self.queue(tx, &mail, context.now).await
    }

    /// Sends a link with a token that is good for so long, in the caller's transaction; to nobody it is the same
    /// work.
    pub async fn send_link(
        &self,
        tx: &mut Tx,
        to: Option<&str>,
        link: Link,
        (token, lifetime): (&Secret, Duration),
        context: &RequestContext,
    ) -> Result<(), Error> {
        let mail = link.to_mail(to, &self.issuer, (token, lifetime), context);
        self.queue(tx, &mail, context.now).await
    }

    /// Opens what [`queue`](Self::queue) wrote.
    fn open(&self, sealed: &[u8]) -> Result<Mail, UnsealError> {
        let plain = self.key.open(SEALED_AS, sealed)?;
        serde_json::from_slice(&plain).map_err(|_| UnsealError)
    }
}
