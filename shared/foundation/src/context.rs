//! The data about the current request that domain functions need: its time, trace id, client address and user
//! agent.

use crate::clock::{Clock, Timestamp};
use crate::{network, random};
use std::net::IpAddr;
use std::sync::OnceLock;

/// The context of one HTTP request, or of an action without a request: a command or a background task.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The time at which the request arrived or the action began.
    pub now: Timestamp,
    /// The clock by which that is the time.
    pub clock: Clock,
    /// The W3C trace id, which for a request is also the correlation id of the response.
    pub trace_id: String,
    /// The IP address of the HTTP client; `None` without a request.
    pub address: Option<IpAddr>,
    /// The `User-Agent` header, at most 200 characters, without control characters; `None` if absent.
    pub user_agent: Option<String>,
    /// The administrator whose request it is, if it is one at `/admin/…`. Its security events name this one.
    pub administrator: Option<Administrator>,
    /// The pattern of the path, such as `/posts/{id}`, once the router has matched it.
    pub route: OnceLock<String>,
}

/// An administrator who calls `/admin/…`.
#[derive(Clone, Copy, Debug)]
pub struct Administrator {
    /// The id of the user.
    pub user_id: i64,
    /// The epoch of the user in which the session or the access token began.
    pub epoch: i64,
    /// The id of the session and the time of the sign-in in it; `None` for a call with an access token.
    pub session: Option<(i64, Timestamp)>,
}

impl RequestContext {
    /// Returns the context of a command or of a background task: the current time and a new trace id.
    pub fn without_request() -> Self {
        Self::of_command(Clock::default())
    }

    /// Returns the context of a command that is judged by this clock.
    pub fn of_command(clock: Clock) -> Self {
        Self {
            now: clock.now(),
            clock,
            trace_id: random::trace_id(),
            address: None,
            user_agent: None,
            administrator: None,
            route: OnceLock::new(),
        }
    }

    /// Returns the pattern of the path, or an empty string without a matched route.
    pub fn route(&self) -> &str {
        self.route.get().map_or("", String::as_str)
    }

    /// Returns the network of the client, or an empty string if there is no client address, as on the command
    /// line.
    pub fn network(&self) -> String {
        self.address.map(network::of_address).unwrap_or_default()
    }

    /// Returns the same context at the current time, for a change whose recorded time must not precede its
    /// transaction by the time that the request took until then.
    #[must_use]
    pub fn at_present(&self) -> Self {
        Self {
            now: self.clock.now(),
            ..self.clone()
        }
    }
}
