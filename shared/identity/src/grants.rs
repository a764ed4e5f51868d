//! What users have granted to clients: the one owner of these tables for both services.

pub mod clients;
pub mod consents;
pub mod origins;
pub mod refresh_families;
