//! Value types and helper functions that every other crate of Latchkey uses.
//!
//! This crate does not access the database, Redis or the network.

pub mod byte_size;
pub mod characters;
pub mod clock;
pub mod context;
pub mod cursor;
pub mod duration;
pub mod email;
pub mod ids;
pub mod json;
pub mod list_query;
pub mod log;
pub mod names;
pub mod network;
pub mod private_files;
pub mod random;
pub mod role;
pub mod schema;
pub mod scope;
pub mod sealing;
pub mod secret;
pub mod settings;
pub mod sync;
pub mod time_limits;
pub mod urls;
