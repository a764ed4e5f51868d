//! The adapter to oxide-auth: every implementation of its traits. No other module names the library.
//!
//! Its state machines decide each flow's course. The database work comes from the grant's procedure, as a
//! future that runs when the state machine asks for it. The library's errors carry no cause, so each flow
//! keeps the result of that work and returns it.

mod authorization;
mod code_exchange;
mod deferred;
mod grant;
mod registrar;
mod rotation;

pub(super) use authorization::{PendingAuthorization, RequestError, authorize, validate};
pub(super) use code_exchange::{ClaimedFamily, exchange_code};
pub(super) use rotation::{RefreshRequest, rotate};
