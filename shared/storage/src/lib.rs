//! Storage: the database, Redis, and the services that use them to share state.
//!
//! This crate has statements on `housekeeping_leases` and on what the engine itself keeps, such as the
//! applied migrations: the other tables belong to the domain modules that write them. Only the copy of an
//! installation reads and writes them all, by the schema and without a name.

pub mod clock_check;
pub mod db;
mod eviction;
pub mod expiring;
pub mod notifications;
pub mod outbox;
pub mod paging;
pub mod rate_limits;
pub mod redis;
pub mod settings;

/// Returns every SQL statement of this crate with its name, for the test that prepares each on both engines.
pub fn statements() -> Vec<(String, String)> {
    named_statements([
        clock_check::STATEMENTS,
        db::copy::STATEMENTS,
        db::copy::MARK_STATEMENTS,
        db::copy::TABLE_STATEMENTS,
        db::FILE_STATEMENTS,
        db::ID_STATEMENTS,
        db::LEASE_STATEMENTS,
        db::MIGRATION_STATEMENTS,
        db::SERVER_STATEMENTS,
    ])
    .collect()
}

/// Returns the statements of these lists with their names.
pub fn named_statements<const N: usize>(
    lists: [&'static [(&'static str, &'static str)]; N],
) -> impl Iterator<Item = (String, String)> {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    lists.into_iter().flatten().map(owned)
}
