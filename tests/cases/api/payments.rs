//! Payments: creation, transitions, lists, and the constraints of the database.

mod creating;
mod database_rules;
mod lists;
mod races;
mod transitions;
