//! The queue of mails: each is sealed and written in the transaction of its cause.

use crate::mail::link::Link;
use crate::mail::message::Mail;
use crate::mail::notice::Notice;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::sealing::{SealingKey, UnsealError};
use foundation::secret::Secret;
use std::sync::Arc;
use std::time::Duration;
use storage::db::{Error, Tx};
use storage::{execute, sql};

sql! {
    INSERT = "INSERT INTO mails (sealed, created_at, due_at, attempts) VALUES ($1, $2, $2, 0)";
}

/// The name under which mails are sealed. It is the same for all, because a row has no id before it is inserted.
const SEAL_NAME: &str = "mail";

/// Queues mails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mails {
    key: SealingKey,
    issuer: Arc<str>,
}

impl Mails {
    /// Creates a queue that seals mails under `key`. Links lead to pages of `issuer`, a URL without a trailing slash.
    pub fn new(key: SealingKey, issuer: &str) -> Self {
        Self {
            key,
            issuer: issuer.into(),
        }
    }

    /// Queues a notice to the address `email` about its account, in the caller's transaction. The notice is sent after
    /// the commit.
    pub async fn send_notice(
        &self,
        tx: &mut Tx,
        email: &str,
        notice: Notice<'_>,
        context: &RequestContext,
    ) -> Result<(), Error> {
        let mail = notice.to_mail(email, &self.issuer, context);
        self.queue(tx, &mail, context.now).await
    }

    /// Queues a mail with a link that carries `token`, in the caller's transaction. The mail is sent after the commit
    /// and names `lifetime`, the lifetime of the token. If `to` is `None`, the mail is queued all the same and dropped
    /// at delivery, so that the response time does not reveal whether an account exists.
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

    async fn queue(&self, tx: &mut Tx, mail: &Mail, now: Timestamp) -> Result<(), Error> {
        #[allow(clippy::expect_used, reason = "a struct of strings always serializes")]
        let plain = serde_json::to_vec(mail).expect("a mail serializes as JSON");
        execute!(tx.on(), INSERT, self.key.seal(SEAL_NAME, &plain), now).map(|_| ())
    }

    /// Unseals a queued mail.
    pub(super) fn open(&self, sealed: &[u8]) -> Result<Mail, UnsealError> {
        let plain = self.key.open(SEAL_NAME, sealed)?;
        serde_json::from_slice(&plain).map_err(|_| UnsealError)
    }
}
