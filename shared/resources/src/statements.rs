//! The SQL statements of this crate, for the test that prepares each of them on both database engines.

use crate::{accounts, comments, idempotency, payments, posts, storage_use};

/// Returns every SQL statement that this crate can run, as pairs of a name and the statement's text.
pub fn statements() -> Vec<(String, String)> {
    let constant = storage::named_statements([
        accounts::STATEMENTS,
        comments::store::STATEMENTS,
        idempotency::stored::STATEMENTS,
        payments::store::STATEMENTS,
        payments::transitions::STATEMENTS,
        posts::create::STATEMENTS,
        posts::list::STATEMENTS,
        posts::store::STATEMENTS,
        storage_use::STATEMENTS,
    ]);
    constant
        .chain(comments::list::statements())
        .chain(payments::list::statements())
        .chain(posts::list::statements())
        .collect()
}
