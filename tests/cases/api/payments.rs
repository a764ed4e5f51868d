//! Payments: how they are made, what becomes of them, and what the database itself holds them to.

mod creating;
mod database_rules;
mod lists;
mod races;
mod transitions;
