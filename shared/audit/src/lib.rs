//! Security events, alerts, revocations and mails: rows that are written in the transaction of their cause and take
//! effect after its commit.

pub mod alerts;
pub mod events;
pub mod mail;
pub mod outbox;
pub mod revocation;

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(&'static str, &'static str)> {
    [
        alerts::STATEMENTS,
        alerts::detection::STATEMENTS,
        alerts::webhook::STATEMENTS,
        events::STATEMENTS,
        events::list::STATEMENTS,
        events::pseudonyms::STATEMENTS,
        mail::delivery::STATEMENTS,
        mail::queue::STATEMENTS,
        revocation::STATEMENTS,
        revocation::rows::STATEMENTS,
    ]
    .concat()
}
