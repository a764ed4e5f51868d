//! The memory of request bodies. What has arrived of a body stays in memory until the rest arrives, so
//! clients that send slowly could hold any amount of memory if it were not counted.

use crate::connection::Client;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::Extensions;
use futures_util::future::{AbortHandle, Abortable};
use http_body_util::{BodyExt as _, Limited};
use std::error::Error as StdError;

/// A reason why a body was not received.
#[derive(Debug)]
pub(crate) enum NotReceived {
    /// It had to make room for other bodies.
    Aborted,
    /// It is too large, or cannot be read.
    Failed(Box<dyn StdError + Send + Sync>),
}

/// Receives the body of a request with these extensions. Most bodies arrive with the head or right after it,
/// in one piece. A longer one counts with what has arrived of it, and has to make room for others if it
/// arrives more slowly.
pub(crate) async fn receive(extensions: &Extensions, body: Limited<Body>) -> Result<Bytes, NotReceived> {
    let mut body = body;
    let first = next_piece(&mut body).await?.unwrap_or_default();
    if body.is_end_stream() {
        return Ok(first);
    }
    let (abort, registration) = AbortHandle::new_pair();
    let client = Client::of_request(extensions);
    let share = client.map(|client| client.hold_request(first.len() as u64, abort));
    let rest = async {
        // One buffer, because small pieces would take many times their size.
        let mut all = Vec::from(first);
        while let Some(piece) = next_piece(&mut body).await? {
            all.extend_from_slice(&piece);
            if let Some(share) = &share {
                share.grow(piece.len() as u64);
            }
        }
        Ok(Bytes::from(all))
    };
    let received = Abortable::new(rest, registration).await;
    received.unwrap_or(Err(NotReceived::Aborted))
}

/// Returns the next bytes of a body, or `None` at its end.
async fn next_piece(body: &mut Limited<Body>) -> Result<Option<Bytes>, NotReceived> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(NotReceived::Failed)?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}
