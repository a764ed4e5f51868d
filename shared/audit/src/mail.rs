//! Mails. [`Mails`] seals each mail and queues it in the transaction of its cause, so that it is sent if and only if the
//! transaction commits. [`Delivery`] sends the queued mails.

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
pub use queue::Mails;
pub use transport::{SmtpUrl, Transport};
