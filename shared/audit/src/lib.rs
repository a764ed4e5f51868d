//! Security events and alerts: rows that are written in the transaction of their cause and take effect after
//! its commit. And the figures of what happened in all processes.

pub mod alerts;
pub mod events;
pub mod figures;

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    let constant = storage::named_statements([
        alerts::STATEMENTS,
        alerts::detection::STATEMENTS,
        alerts::webhook::STATEMENTS,
        events::STATEMENTS,
        events::list::activity::STATEMENTS,
        events::list::changes::STATEMENTS,
        events::list::lockouts::STATEMENTS,
        events::list::tail::STATEMENTS,
        events::pseudonyms::STATEMENTS,
        figures::STATEMENTS,
        figures::live_tokens::STATEMENTS,
    ]);
    constant
        .chain(events::list::statements())
        .chain(figures::statements())
        .collect()
}
