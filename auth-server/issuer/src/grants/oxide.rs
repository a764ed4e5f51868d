//! The adapter to oxide-auth: every implementation of its traits. No other module names the library.
//!
//! The library's state machines decide which step comes next, and whether a request is refused. The database
//! work comes from the grant's module, as a future that runs when the state machine asks for its result. The
//! library's errors carry no cause, so each flow keeps the result of that work and returns it.

mod authorization;
mod code_exchange;
mod deferred;
mod grant;
mod registrar;

pub(super) use authorization::{PendingAuthorization, RequestError, authorize, validate};
pub(super) use code_exchange::exchange_code;
