//! The close of a connection whose client may still be sending (RFC 9112 §9.6).

use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The time in which a client can read the last response and close its side.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of bytes that are read, and dropped, at once.
const CHUNK: usize = 8 * 1024;

/// The time between the end of the output and the close. Input is read and dropped in it, because a kernel
/// that closes a connection with unread input resets it, and the client may then lose the response, for
/// example the 413 to a body that it is still sending.
#[derive(Debug)]
pub(crate) struct LingeringClose(Pin<Box<Sleep>>);

impl LingeringClose {
    /// Starts the two seconds. Called when the output has ended.
    pub(crate) fn begin() -> Self {
        Self(Box::pin(sleep(CLOSE_TIMEOUT)))
    }

    /// Reads and drops input. Ready when the client has closed its side, when reading fails, and when the
    /// time has passed.
    pub(crate) fn poll(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<()> {
        while self.0.as_mut().poll(cx).is_pending() {
            let mut chunk = [MaybeUninit::uninit(); CHUNK];
            let mut chunk = ReadBuf::uninit(&mut chunk);
            match Pin::new(&mut *stream).poll_read(cx, &mut chunk) {
                Poll::Ready(Ok(())) if !chunk.filled().is_empty() => {}
                Poll::Ready(_) => break,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }
}
