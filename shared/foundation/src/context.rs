//! The context of a request: the time, the trace id and the caller's address, as domain functions need them.

use crate::clock::{self, Timestamp};
use crate::random;
use std::net::IpAddr;

/// The context of one request, or of one command run in the shell.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The time at which the request arrived.
    pub now: Timestamp,
    /// The W3C trace id, which is also the correlation id of the response.
    pub trace_id: String,
    /// The client's address; `None` for a command run in the shell.
    pub address: Option<IpAddr>,
    /// The `User-Agent` header: at most 200 characters, without control characters.
    pub user_agent: Option<String>,
}

impl RequestContext {
    /// The context of a command run in the shell.
    pub fn shell() -> Self {
        Self {
            now: clock::now(),
            trace_id: random::trace_id(),
            address: None,
            user_agent: None,
        }
    }
}
