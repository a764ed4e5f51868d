//! Values and small rules that every other crate of Latchkey uses.
//!
//! Nothing here knows the database, Redis or axum.

pub mod clock;
pub mod context;
pub mod cursor;
pub mod duration;
pub mod email;
pub mod json;
pub mod log;
pub mod network;
pub mod private_files;
pub mod random;
pub mod schema;
pub mod scope;
pub mod sealing;
pub mod secret;
pub mod settings;
pub mod urls;
