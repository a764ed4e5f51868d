//! Storage: the database, Redis, and what is built on the two.
//!
//! Nothing here names a table: each table belongs to the module whose rules it serves.

pub mod db;
pub mod expiring;
pub mod notifications;
pub mod rate_limits;
pub mod redis;
pub mod settings;
