//! The memory of large responses. A response stays in memory until its client has accepted it, so clients
//! that read slowly could hold any amount of memory if it were not counted.

use crate::budget::Share;
use crate::connection::Client;
use crate::error::Error;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

/// The size above which a response counts, in bytes. Most responses are smaller, and take no lock.
const LARGE: u64 = 64 * 1024;
/// The size that a stream counts as, in bytes, because its own is not known: the largest part of an export
/// that is in memory at a time.
const STREAM: u64 = 8 * 1024 * 1024;

/// A mark, as an extension of a response, of a stream that is sent in small parts, each as soon as it is
/// there.
#[derive(Clone, Copy, Debug)]
pub struct SmallStream;

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

/// Counts a response to this client until the client has accepted it, if it is large or a stream.
pub(crate) async fn count(client: &Client, response: Response) -> Response {
    if response.extensions().get::<SmallStream>().is_some() {
        return response;
    }
    let exact = response.body().size_hint().exact();
    let size = exact.unwrap_or(STREAM);
    if size <= LARGE {
        return response;
    }
    let share = client.hold_response(size);
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
