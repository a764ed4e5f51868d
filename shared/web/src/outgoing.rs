//! The memory budget of large responses. A response stays in memory until its client has accepted it, so without a
//! budget clients that read slowly could hold any amount of memory.

use crate::error::{Code, Error};
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use foundation::network;
use foundation::sync::lock;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The size above which a response counts, in bytes. Most responses are smaller, and take no lock.
const LARGE: u64 = 64 * 1024;
/// The size that a stream counts as, in bytes, because its own is not known: the largest part of an export that is in memory at a
/// time.
const STREAM: u64 = 8 * 1024 * 1024;
/// The limit of the large responses that the clients of one network have not accepted yet, in bytes. The largest page
/// of a list has 12 MB: 20 bodies of 100,000 characters, each of which takes up to six bytes in JSON.
const MAX_OF_NETWORK: u64 = 16 * 1024 * 1024;
/// The limit for all networks, in bytes.
const MAX: u64 = 128 * 1024 * 1024;

/// The sizes of the large responses that clients have not accepted yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outgoing(Arc<Mutex<Sizes>>);

/// The sizes, in bytes.
#[derive(Debug, Default)]
struct Sizes {
    all: u64,
    by_network: HashMap<String, u64>,
}

/// The part of the budget that a response uses. Dropping it returns the part.
#[derive(Debug)]
struct Share {
    outgoing: Outgoing,
    network: String,
    size: u64,
}

/// A body with its share of the budget. hyper drops it when the client has accepted the last byte.
struct CountedBytes {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The part of the budget that is reserved for the response to a write. A write whose response may be large reserves it before it
/// takes effect,
/// because the response cannot be refused afterwards. It is an extension of such requests. Clones share the reservations, which last
/// until the response is counted.
#[derive(Clone, Debug)]
pub struct Room(Arc<Reservations>);

#[derive(Debug)]
struct Reservations {
    outgoing: Outgoing,
    network: String,
    shares: Mutex<Vec<Share>>,
}

impl Room {
    /// Reserves room for a response of about this size in bytes. Fails with 503 if it exceeds the budget.
    pub fn reserve(&self, size: usize) -> Result<(), Error> {
        let size = size as u64;
        if size > LARGE {
            let Reservations {
                outgoing,
                network,
                shares,
            } = &*self.0;
            let share = outgoing.take(network.clone(), size, true).ok_or_else(exceeded)?;
            lock(shares).push(share);
        }
        Ok(())
    }
}

impl Outgoing {
    /// Returns the room of the response to a request from this address, in which nothing is reserved yet. The response to a write
    /// repeats at most what the request has, unless it is a `PATCH`. Other requests need no room: `None`.
    pub(crate) fn room(&self, address: Option<IpAddr>, request: &Request) -> Option<Room> {
        let is_large = || request.body().size_hint().upper().is_none_or(|size| size > LARGE);
        let needs_room = !request.method().is_safe() && (request.method() == Method::PATCH || is_large());
        needs_room.then(|| {
            Room(Arc::new(Reservations {
                outgoing: self.clone(),
                network: address.map(network::of_address).unwrap_or_default(),
                shares: Mutex::default(),
            }))
        })
    }

    /// Counts a response to this address, if it is large or a stream. Returns a 503 in its place if it exceeds the budget and
    /// `may_refuse`.
    pub(crate) async fn count(
        &self,
        address: Option<IpAddr>,
        response: Response,
        may_refuse: bool,
    ) -> Response {
        let exact = response.body().size_hint().exact();
        let size = exact.unwrap_or(STREAM);
        if size <= LARGE {
            return response;
        }
        let network = address.map(network::of_address).unwrap_or_default();
        let Some(share) = self.take(network, size, may_refuse) else {
            return exceeded().into_response();
        };
        if exact.is_none() {
            // hyper drops the stream when the client has accepted nearly all of it.
            return response.map(|body| {
                let parts = body.into_data_stream();
                Body::from_stream(parts.inspect(move |_| {
                    let _held = &share;
                }))
            });
        }
        let (head, body) = response.into_parts();
        match to_bytes(body, usize::MAX).await {
            Ok(bytes) => {
                let counted = CountedBytes { bytes, _share: share };
                Response::from_parts(head, Body::from(Bytes::from_owner(counted)))
            }
            Err(error) => Error::internal(&error).into_response(),
        }
    }

    /// Returns a share of `size` bytes. Returns `None` if it exceeds the budget and `may_refuse` is true.
    fn take(&self, network: String, size: u64, may_refuse: bool) -> Option<Share> {
        let mut sizes = lock(&self.0);
        let of_network = sizes.by_network.get(&network).copied().unwrap_or_default();
        if may_refuse && (of_network + size > MAX_OF_NETWORK || sizes.all + size > MAX) {
            return None;
        }
        sizes.all += size;
        sizes.by_network.insert(network.clone(), of_network + size);
        Some(Share {
            outgoing: self.clone(),
            network,
            size,
        })
    }
}

fn exceeded() -> Error {
    Error::new(
        Code::DependencyUnavailable,
        "Too many large responses are still being sent. Try again in a moment.",
    )
    .retry_after(Duration::from_secs(1))
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut sizes = lock(&self.outgoing.0);
        sizes.all -= self.size;
        if let Some(of_network) = sizes.by_network.get_mut(&self.network) {
            *of_network -= self.size;
            if *of_network == 0 {
                sizes.by_network.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_limited_by_network_and_in_all_and_return_to_the_budget() {
        let outgoing = Outgoing::default();
        let take = |network: &str, size| outgoing.take(network.to_owned(), size, true);
        let first = take("a", MAX_OF_NETWORK).unwrap();
        assert!(take("a", 1).is_none());
        let forced = outgoing.take("a".to_owned(), 1, false);
        assert!(forced.is_some(), "the response to a write is never refused");
        drop(forced);
        let others: Vec<_> = (1..MAX / MAX_OF_NETWORK)
            .map(|n| take(&n.to_string(), MAX_OF_NETWORK).unwrap())
            .collect();
        assert!(take("b", 1).is_none());
        drop(first);
        assert!(take("b", 1).is_some());
        drop(others);
        let sizes = lock(&outgoing.0);
        assert_eq!(sizes.all, 0);
        assert!(sizes.by_network.is_empty());
    }
}
