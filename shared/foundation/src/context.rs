//! The context of a request that domain functions need: the time, the trace id and the client's address.

use crate::clock::{self, Timestamp};
use crate::random;
use std::net::IpAddr;

/// The context of one HTTP request or of one command-line invocation.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The time of the request's arrival.
    pub now: Timestamp,
    /// The W3C trace id, which is also the correlation id of the response.
    pub trace_id: String,
    /// The client's address; `None` on the command line.
    pub address: Option<IpAddr>,
    /// The `User-Agent` header, at most 200 characters, without control characters; `None` if absent.
    pub user_agent: Option<String>,
}

impl RequestContext {
    /// Returns the context of a command-line invocation: the current time and a new trace id.
    pub fn shell() -> Self {
        Self {
            now: clock::now(),
            trace_id: random::trace_id(),
            address: None,
            user_agent: None,
        }
    }
}
