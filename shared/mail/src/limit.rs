//! The limit of mails to one mailbox.

use foundation::email::Email;
use std::time::Duration;
use storage::expiring::{Count, Window};

/// The limit of mails of all kinds to one mailbox.
const PER_MAILBOX: Window = Window::throttle(20, Duration::from_secs(3600));

/// Returns the count of all mails to a mailbox, which each mail must take.
pub fn count_of_mailbox(to: &Email) -> Count {
    PER_MAILBOX.count(format!("mails to {}", to.mailbox()))
}
