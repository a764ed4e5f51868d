//! Storage: the database, Redis, and the services that use them to share state.
//!
//! This crate has no statement on a table: each table belongs to the domain module that writes it.

pub mod clock_check;
pub mod db;
mod eviction;
pub mod expiring;
pub mod notifications;
pub mod paging;
pub mod rate_limits;
pub mod redis;
pub mod settings;
