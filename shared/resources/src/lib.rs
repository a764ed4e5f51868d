//! The resources of the API and their storage: posts, comments, payments and accounts. Nothing here depends
//! on HTTP; the crate `api-server` maps requests to these functions and their errors to responses.

pub mod accounts;
pub mod comments;
pub mod export;
pub mod idempotency;
pub mod payments;
pub mod posts;
mod receipt;
mod statements;
pub mod storage_use;
mod text;

pub use receipt::Created;
pub use statements::statements;
pub use text::Text;
