//! What password resets and changes of address have in common: a link is mailed, and its token comes back.

use crate::Identity;
use foundation::context::RequestContext;
use foundation::email::Email;
use foundation::network;
use std::time::Duration;
use storage::db;
use storage::expiring::{Count, Rule, Window};
use storage::redis;

/// Mails that one mailbox gets of one kind.
const TO_ONE_ADDRESS: Window = Window {
    limit: 3,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Throttle,
};
/// Mails that are asked for from one network.
const FROM_ONE_NETWORK: Window = Window {
    limit: 20,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Throttle,
};

/// Mails to those who sign up from one network.
const TO_NEW_FROM_ONE_NETWORK: Window = Window {
    limit: 100,
    length: Duration::from_secs(15 * 60),
    rule: Rule::Throttle,
};

/// Why no mail was asked for.
#[derive(Debug, thiserror::Error)]
pub enum MailThrottled {
    /// Too many were asked for from this address.
    #[error("too many mails were asked for; try again in {}", foundation::duration::in_words(*.retry_after))]
    TooMany {
        /// When trying again makes sense.
        retry_after: Duration,
    },
    /// Requests cannot be counted, so none may be made.
    #[error(transparent)]
    Uncounted(#[from] redis::Unavailable),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// Counts a request for a mail. `false`: this mailbox has had enough of the `kind` for now, which nobody is told.
pub(crate) async fn may_mail(
    identity: &Identity,
    kind: &str,
    to: &Email,
    context: &RequestContext,
) -> Result<bool, MailThrottled> {
    let (store, now) = (&identity.expiring, context.now);
    let network = context.address.map(network::of_address).unwrap_or_default();
    let from = Count {
        key: format!("mails from {network}"),
        window: FROM_ONE_NETWORK,
    };
    if let Some(until) = store.take(&[from], now).await? {
        let retry_after = until.since(now);
        return Err(MailThrottled::TooMany { retry_after });
    }
    let to = Count {
        key: format!("{kind} to {}", to.key()),
        window: TO_ONE_ADDRESS,
    };
    Ok(store.take(&[to], now).await?.is_none())
}

/// Counts a mail to a new account's address.
pub(crate) async fn may_mail_to_new(
    identity: &Identity,
    context: &RequestContext,
) -> Result<bool, redis::Unavailable> {
    let network = context.address.map(network::of_address).unwrap_or_default();
    let from = Count {
        key: format!("welcomes from {network}"),
        window: TO_NEW_FROM_ONE_NETWORK,
    };
    Ok(identity.expiring.take(&[from], context.now).await?.is_none())
}
