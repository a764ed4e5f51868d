//! Mails: queued in the transaction of their cause, so that a commit loses none and a rollback sends none.
//! [`Mails`] queues them, sealed; [`Delivery`] sends them.

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
