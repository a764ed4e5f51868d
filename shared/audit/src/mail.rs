//! Mails. [`Mails`] seals each mail and queues it in the transaction of its cause, so that a rollback also
//! discards the mail. [`Delivery`] sends the queued mails and gives up a mail that cannot be sent within
//! three days.

pub(crate) mod delivery;
mod link;
mod message;
mod notice;
pub(crate) mod queue;
mod transport;

pub use delivery::Delivery;
pub use lettre::Address;
pub use lettre::message::Mailbox;
pub use link::Link;
pub use notice::Notice;
pub use queue::{Mails, Recipient, count_of_mailbox};
pub use transport::{SmtpUrl, Transport};
