//! The queue of mails: each is sealed and written in the transaction of its cause.

use crate::limit::count_of_mailbox;
use crate::link::Link;
use crate::message::Mail;
use crate::notice::Notice;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::sealing::{SealingKey, UnsealError};
use foundation::secret::Secret;
use std::sync::Arc;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::expiring::ExpiringStore;
use storage::{execute, fetch_optional, sql};

sql! {
    INSERT = "INSERT INTO mails (sealed, created_at, due_at, attempts) VALUES ($1, $2, $2, 0)";
    FIND_ANY = "SELECT sealed FROM mails ORDER BY id LIMIT 1";
    DELETE_EVERY = "DELETE FROM mails";
}

/// The name under which mails are sealed. It is the same for all, because a row has no id before it is
/// inserted.
const SEAL_NAME: &str = "mail";

/// Queues mails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mails {
    key: SealingKey,
    issuer: Arc<str>,
    /// Counts the mails to each mailbox.
    store: ExpiringStore,
}

/// The user whom a notice concerns.
#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    /// The address of the user's account.
    pub email: &'a str,
    /// Whether the address was confirmed. Until then it may be that of a stranger.
    pub is_verified: bool,
}

impl Mails {
    /// Creates a queue that seals mails under `key`. Links lead to pages of `issuer`, a URL without a
    /// trailing slash. `store` counts the mails to each mailbox.
    pub fn new(key: SealingKey, issuer: &str, store: ExpiringStore) -> Self {
        Self {
            key,
            issuer: issuer.into(),
            store,
        }
    }

    /// Queues a notice to a user about their account, in the caller's transaction. The notice is sent after
    /// the commit. No effect if the address is not verified, or if the mailbox reached its limit. While the
    /// store is unavailable, notices are sent and not counted.
    pub async fn send_notice(
        &self,
        tx: &mut Tx,
        to: Recipient<'_>,
        notice: Notice<'_>,
        context: &RequestContext,
    ) -> Result<(), Error> {
        if !to.is_verified || self.has_reached_limit(to.email, context).await {
            return Ok(());
        }
        let mail = notice.to_mail(to.email, &self.issuer, context);
        self.queue(tx, &mail, context.now).await
    }

    /// Counts a mail to this address. Returns true, and logs it, if the mailbox reached its limit.
    async fn has_reached_limit(&self, to: &str, context: &RequestContext) -> bool {
        // A stored address was parsed by the same rules, so this does not fail.
        let Ok(to) = Email::parse(to) else {
            return false;
        };
        let refusal = self.store.take(&[count_of_mailbox(&to)], context.now).await;
        let has_reached_limit = refusal.unwrap_or_default().is_some();
        if has_reached_limit {
            tracing::warn!("a notice was not sent: its mailbox reached the limit of mails");
        }
        has_reached_limit
    }

    /// Queues a mail with a link that carries `token`, in the caller's transaction. The mail is sent after
    /// the commit and names `lifetime`, the lifetime of the token. If `to` is `None`, the mail is queued all
    /// the same and dropped at delivery, so that the response time does not reveal whether an account exists.
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

/// Returns whether this key opens the queued mails, of which it tries one.
pub async fn opens_queue(db: &Db, key: &SealingKey) -> Result<bool, Error> {
    let mail = fetch_optional!(db.reader(), (Vec<u8>,), FIND_ANY)?;
    Ok(mail.is_none_or(|(sealed,)| key.open(SEAL_NAME, &sealed).is_ok()))
}

/// Deletes all queued mails.
pub async fn delete_every(tx: &mut Tx) -> Result<(), Error> {
    execute!(tx.on(), DELETE_EVERY).map(|_| ())
}
