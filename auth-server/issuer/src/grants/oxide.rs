//! The adapter to oxide-auth. Its state machines are values that do nothing themselves: they say which check
//! comes next, and whether the request is refused. The functions here make the checks and give them the
//! results. No other module names the library.

mod authorization;
mod code_exchange;

pub(super) use authorization::BoundRequest;
pub(super) use code_exchange::CodeExchange;
