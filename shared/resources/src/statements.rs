//! The SQL statements of this crate, for the test that prepares each of them on both database engines.

use crate::{accounts, comments, idempotency, payments, posts, storage_use};

/// Returns every SQL statement that this crate can run, as pairs of a name and the statement's text.
pub fn statements() -> Vec<(String, String)> {
    let constant = [
        accounts::STATEMENTS,
        comments::store::STATEMENTS,
        idempotency::stored::STATEMENTS,
        payments::store::STATEMENTS,
        payments::transitions::STATEMENTS,
        posts::create::STATEMENTS,
        posts::list::STATEMENTS,
        posts::store::STATEMENTS,
        storage_use::STATEMENTS,
    ];
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let lists = comments::list::statements()
        .chain(payments::list::statements())
        .chain(posts::list::statements());
    constant.into_iter().flatten().map(owned).chain(lists).collect()
}
