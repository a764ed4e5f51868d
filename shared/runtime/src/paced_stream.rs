//! A connection whose client must accept responses at a minimum rate, because a response stays in memory until it is
//! accepted.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The period over which the rate of a client is measured. Bytes that the kernel buffers count as accepted, so a client
/// that reads too slowly may pass the first period and is disconnected at the end of the second.
const PERIOD: Duration = Duration::from_secs(30);
/// The number of bytes that a client must accept in each period while it keeps a write waiting: 17 KiB a second.
const MIN_ACCEPTED: usize = 512 * 1024;
/// The time limit of a response from the first write that waits, whatever the rate. It is checked at the end of each
/// period.
const MAX_TIME: Duration = Duration::from_secs(300);

/// A stream whose writes fail with [`io::ErrorKind::TimedOut`] if the peer is too slow. A peer that never keeps a write
/// waiting is not measured.
#[derive(Debug)]
pub(crate) struct PacedStream<S> {
    stream: S,
    /// The measurement since the first write that had to wait; `None` if no write had to wait since the last flush.
    backlog: Option<Backlog>,
}

/// The measurement of a peer that keeps writes waiting.
#[derive(Debug)]
struct Backlog {
    /// The time of the first write that had to wait.
    began: Instant,
    /// The end of the current period.
    period_end: Pin<Box<Sleep>>,
    /// The number of bytes that the peer has accepted in this period.
    accepted: usize,
}

impl<S> PacedStream<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self {
            stream,
            backlog: None,
        }
    }

    /// Counts the bytes of a write that was polled with the result `written`, and returns the result. Returns an error
    /// in its place if the write is pending and the peer is too slow.
    fn check(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) => {
                if let Some(backlog) = &mut self.backlog {
                    backlog.accepted += count;
                }
                Poll::Ready(Ok(count))
            }
            Poll::Pending if self.backlog.get_or_insert_with(Backlog::new).is_overdue(cx) => {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}

impl Backlog {
    fn new() -> Self {
        let began = Instant::now();
        Self {
            began,
            period_end: Box::pin(sleep_until(began + PERIOD)),
            accepted: 0,
        }
    }

    /// Returns whether the peer is too slow. If not, the task is woken at the end of the period.
    fn is_overdue(&mut self, cx: &mut Context<'_>) -> bool {
        while self.period_end.as_mut().poll(cx).is_ready() {
            if self.accepted < MIN_ACCEPTED || self.began.elapsed() >= MAX_TIME {
                return true;
            }
            self.accepted = 0;
            self.period_end.as_mut().reset(Instant::now() + PERIOD);
        }
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PacedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Ends the measurement, because hyper flushes only when it has written everything that it had to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.backlog = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
