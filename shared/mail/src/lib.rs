//! Mails. [`Mails`] seals each mail and queues it in the transaction of its cause, so that a rollback also
//! discards the mail. [`Delivery`] sends the queued mails and gives up a mail that cannot be sent within
//! three days.

mod delivery;
mod limit;
mod link;
mod message;
mod notice;
mod queue;
mod transport;

pub use delivery::Delivery;
pub use lettre::Address;
pub use lettre::message::Mailbox;
pub use limit::count_of_mailbox;
pub use link::Link;
pub use notice::Notice;
pub use queue::{Mails, Recipient, delete_every, opens_queue};
pub use transport::{OUTBOX, SendError, SmtpUrl, Transport};

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    storage::named_statements([delivery::STATEMENTS, queue::STATEMENTS]).collect()
}
