//! Extractors. The authentication extractor comes first among a handler's arguments, so that 401 and 403
//! precede every other error, except the 400 of a malformed idempotency key.

mod bearer_only;
mod credentials;
mod idempotency_key;
mod principal;
mod public_write;
mod session;
mod writers;

pub(crate) use bearer_only::BearerOnly;
pub(crate) use idempotency_key::{IdempotentRequest, KeyedRequest};
pub(crate) use public_write::PublicWrite;
pub(crate) use session::{CurrentSession, OptionalSession, UnrestrictedSession};
pub(crate) use writers::{CommentWriter, PaymentWriter, PostWriter, Writer};
