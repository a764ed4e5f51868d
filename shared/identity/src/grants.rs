//! OAuth clients and the access that users grant to them.

pub mod clients;
pub mod consents;
pub mod origins;
pub mod refresh_families;
