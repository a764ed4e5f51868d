//! Limits on the mails with a link, which clients request, per mailbox, per network and per domain. The
//! mailbox may be a stranger's.
//!
//! A mailbox gets few links of all kinds together. Not all of them can confirm an address, because anybody
//! may enter any address for their account: one is left for the owner who has to reset a password.
//!
//! Links that confirm an address go to recipients who are unknown, so that a domain gets a limited number of
//! them, whoever requests them and however many addresses they make up. One network causes a tenth of them at
//! most, so that it does not keep the mails of the others from a large provider.

use crate::services::Identity;
use foundation::context::RequestContext;
use foundation::email::Email;
use mail::{Link, count_of_mailbox};
use std::time::Duration;
use storage::expiring::Window;
use storage::{db, redis};

/// The limit of links of all kinds to one mailbox.
const LINKS_PER_MAILBOX: Window = Window::throttle(3, Duration::from_secs(3600));
/// The limit of links that confirm an address to one mailbox.
const CONFIRMATIONS_PER_MAILBOX: Window = Window::throttle(2, Duration::from_secs(3600));
/// The limit of links that are requested from one network.
const PER_NETWORK: Window = Window::throttle(20, Duration::from_secs(15 * 60));

/// The time for which a link that confirms an address counts for the domain.
const DOMAIN_WINDOW: Duration = Duration::from_secs(3600);
/// The number of networks that can use up the links of a domain together.
const NETWORKS_PER_DOMAIN: usize = 10;
/// The least number of links to a domain that one network can cause, unless the domain gets fewer.
const LEAST_SHARE: usize = 3;

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

/// Counts a requested mail with this link, and returns whether it may be sent. Returns false if the mailbox
/// reached a limit; the response must not reveal that. Fails with [`MailThrottled::TooMany`] if the network
/// reached its limit.
pub(crate) async fn acquire(
    identity: &Identity,
    link: Link,
    to: &Email,
    context: &RequestContext,
) -> Result<bool, MailThrottled> {
    let by_network = PER_NETWORK.count(format!("mails from {}", context.network()));
    if let Some(retry_after) = identity.expiring.take(&[by_network], context.now).await? {
        return Err(MailThrottled::TooMany { retry_after });
    }
    Ok(acquire_for_mailbox(identity, link, to, context).await?)
}

/// Counts a mail with this link to a mailbox, like [`acquire`] but without the limit of the network.
pub(crate) async fn acquire_for_mailbox(
    identity: &Identity,
    link: Link,
    to: &Email,
    context: &RequestContext,
) -> Result<bool, redis::Unavailable> {
    let mut counts = vec![
        count_of_mailbox(to),
        LINKS_PER_MAILBOX.count(format!("links to {}", to.mailbox())),
    ];
    if link != Link::PasswordReset {
        let (_, domain) = to.ascii_parts();
        let limit = identity.confirmations_per_domain;
        let share = (limit / NETWORKS_PER_DOMAIN).max(LEAST_SHARE).min(limit);
        let to_domain = format!("confirmations to the domain {domain}");
        let of_network = Window::throttle(share, DOMAIN_WINDOW);
        counts.extend([
            CONFIRMATIONS_PER_MAILBOX.count(format!("confirmations to {}", to.mailbox())),
            of_network.count(format!("{to_domain} from {}", context.network())),
            Window::throttle(limit, DOMAIN_WINDOW).count(to_domain),
        ]);
    }
    Ok(identity.expiring.take(&counts, context.now).await?.is_none())
}
