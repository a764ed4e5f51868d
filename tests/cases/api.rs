//! The resource API: posts, comments, payments, lists, idempotency keys and permissions.

mod comments;
mod concurrent_writes;
mod credentials;
mod held_bodies;
mod idempotency;
mod invalid_input;
mod lists;
mod payments;
mod permissions;
mod posts;
mod storage_quota;
