//! The connection of a client, and the budgets that all clients share.

use crate::budget::{Budget, Pace, Share};
use crate::client_address::TrustedProxies;
use axum::http::Extensions;
use foundation::context::RequestContext;
use futures_util::future::AbortHandle;
use std::net::IpAddr;
use std::sync::Arc;

/// The budgets that all clients of a process share.
#[derive(Debug)]
pub struct Budgets {
    connections: Budget,
    requests: Budget,
    responses: Budget,
}

impl Budgets {
    /// Creates the budgets of a number of connections, and of the memory of request bodies that are arriving
    /// and of responses that clients have not accepted yet, in bytes.
    pub fn new(connections: u64, requests: u64, responses: u64) -> Self {
        Self {
            connections: Budget::new(connections),
            requests: Budget::new(requests),
            responses: Budget::new(responses),
        }
    }
}

/// A connection. The accept loop of the server adds it to the extensions of every request, in an `Arc`.
#[derive(Debug)]
pub struct Connection {
    /// The IP address of the TCP peer.
    pub peer: IpAddr,
    /// The speed of the current request or response. For an idle connection it becomes ever smaller.
    pub pace: Arc<Pace>,
    abort: AbortHandle,
    budgets: Arc<Budgets>,
}

impl Connection {
    /// Creates the connection of a peer. `abort` closes it.
    pub fn new(peer: IpAddr, abort: AbortHandle, budgets: Arc<Budgets>) -> Self {
        Self {
            peer,
            pace: Arc::default(),
            abort,
            budgets,
        }
    }

    /// Counts the connection while the share exists. Those of a trusted proxy carry the requests of many
    /// clients, so they never have to make room for others.
    pub fn count(&self, proxies: &TrustedProxies) -> Share {
        let budget = &self.budgets.connections;
        match proxies.trusts(self.peer) {
            true => budget.take_unlimited(1),
            false => budget.take(self.peer, 1, &self.pace, self.abort.clone()),
        }
    }
}

/// The client of a request: its connection and its own address, which is not that of the peer behind a
/// trusted proxy.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    connection: Arc<Connection>,
    address: IpAddr,
}

impl Client {
    /// Returns the client of a request by its extensions; `None` if the request came over no connection, as
    /// in a unit test.
    pub(crate) fn of_request(extensions: &Extensions) -> Option<Self> {
        let connection = extensions.get::<Arc<Connection>>()?;
        let context = extensions.get::<Arc<RequestContext>>();
        let address = context.and_then(|context| context.address);
        Some(Self {
            connection: Arc::clone(connection),
            address: address.unwrap_or(connection.peer),
        })
    }

    /// Counts this many bytes of a body that is arriving. `abort` ends the request if it has to make room for
    /// others.
    pub(crate) fn hold_request(&self, bytes: u64, abort: AbortHandle) -> Share {
        let Connection { pace, budgets, .. } = &*self.connection;
        budgets.requests.take(self.address, bytes, pace, abort)
    }

    /// Counts this many bytes of a response, whose speed is measured from now on. The connection is closed if
    /// the response has to make room for others.
    pub(crate) fn hold_response(&self, bytes: u64) -> Share {
        let Connection {
            pace, budgets, abort, ..
        } = &*self.connection;
        pace.restart();
        budgets.responses.take(self.address, bytes, pace, abort.clone())
    }
}
