//! Limits on the mails that clients request, per mailbox and per network.

use crate::services::Identity;
use foundation::context::RequestContext;
use foundation::email::Email;
use std::time::Duration;
use storage::db;
use storage::expiring::{Count, Rule, Window};
use storage::redis;

/// The limit of mails of one kind to one mailbox.
const PER_MAILBOX: Window = Window {
    limit: 3,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Throttle,
};
/// The limit of mails that are requested from one network.
const PER_NETWORK: Window = Window {
    limit: 20,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Throttle,
};

/// The reason why a mail was not sent.
#[derive(Debug, thiserror::Error)]
pub enum MailThrottled {
    /// Too many mails were requested from the client's network.
    #[error("too many mails were requested; try again in {}", foundation::duration::in_words(*.retry_after))]
    TooMany {
        /// The time until another mail is allowed.
        retry_after: Duration,
    },
    /// The store that counts mails is unavailable. No mail is sent without it.
    #[error(transparent)]
    StoreUnavailable(#[from] redis::Unavailable),
    /// A database error.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Counts a requested mail, and returns whether it may be sent. `kind` names a group of mails that are counted together
/// for each mailbox. Returns false if the mailbox reached the limit for this kind; the response must not reveal that.
/// Fails with [`MailThrottled::TooMany`] if the network reached its limit.
pub(crate) async fn acquire(
    identity: &Identity,
    kind: &str,
    to: &Email,
    context: &RequestContext,
) -> Result<bool, MailThrottled> {
    let (store, now) = (&identity.expiring, context.now);
    let by_network = Count {
        key: format!("mails from {}", context.network()),
        window: PER_NETWORK,
    };
    if let Some(until) = store.take(&[by_network], now).await? {
        let retry_after = until.since(now);
        return Err(MailThrottled::TooMany { retry_after });
    }
    let by_mailbox = Count {
        key: format!("{kind} to {}", to.key()),
        window: PER_MAILBOX,
    };
    Ok(store.take(&[by_mailbox], now).await?.is_none())
}
