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
/// The number of bytes that a client which keeps the program waiting must accept in each period: 17 KiB a second.
const MIN_ACCEPTED: u64 = 512 * 1024;
/// The time after which a client must have accepted [`MIN_AVERAGE`] too. No page of a list is so large that it lasts longer at that
/// rate, so this is the time limit of a page. An export may be larger.
const LONG: Duration = Duration::from_secs(300);
/// The rate of a whole response that takes long, in bytes a second.
const MIN_AVERAGE: u64 = 64 * 1024;

/// A stream whose writes fail with [`io::ErrorKind::TimedOut`] if the peer is too slow. A peer that never keeps a write
/// waiting is not measured.
#[derive(Debug)]
pub(crate) struct PacedStream<S> {
    stream: S,
    /// The pace of the current response; `None` if the peer has not kept a write of it waiting.
    pace: Option<Pace>,
}

/// How fast a peer accepts a response since it first kept a write waiting. The time in which there is nothing to write does not
/// count.
#[derive(Debug)]
struct Pace {
    began: Instant,
    /// The end of the current period.
    period_end: Pin<Box<Sleep>>,
    /// The number of bytes that the peer has accepted in this period.
    in_period: u64,
    /// The number of bytes that it has accepted in all.
    in_all: u64,
    /// The time since which there is nothing to write.
    idle_since: Option<Instant>,
}

impl<S> PacedStream<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, pace: None }
    }

    /// Counts the bytes of a write that was polled with the result `written`, and returns the result. Returns an error
    /// in its place if the write is pending and the peer is too slow.
    fn check(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Some(pace) = &mut self.pace {
            pace.resume();
        }
        match written {
            Poll::Ready(Ok(count)) => {
                if let Some(pace) = &mut self.pace {
                    pace.in_period += count as u64;
                    pace.in_all += count as u64;
                }
                Poll::Ready(Ok(count))
            }
            Poll::Pending if self.pace.get_or_insert_with(Pace::new).is_too_slow(cx) => {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}

impl Pace {
    fn new() -> Self {
        let began = Instant::now();
        Self {
            began,
            period_end: Box::pin(sleep_until(began + PERIOD)),
            in_period: 0,
            in_all: 0,
            idle_since: None,
        }
    }

    /// Moves all times by that in which there was nothing to write.
    fn resume(&mut self) {
        if let Some(since) = self.idle_since.take() {
            let idle = since.elapsed();
            self.began += idle;
            let period_end = self.period_end.deadline() + idle;
            self.period_end.as_mut().reset(period_end);
        }
    }

    /// Returns whether the peer is too slow. If not, the task is woken at the end of the period.
    fn is_too_slow(&mut self, cx: &mut Context<'_>) -> bool {
        while self.period_end.as_mut().poll(cx).is_ready() {
            let waited = self.began.elapsed();
            let is_below_average = waited >= LONG && self.in_all < MIN_AVERAGE * waited.as_secs();
            if self.in_period < MIN_ACCEPTED || is_below_average {
                return true;
            }
            self.in_period = 0;
            self.period_end.as_mut().reset(Instant::now() + PERIOD);
        }
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    /// What the peer sends belongs to the next request, whose response has a pace of its own. During a response, hyper reads at most
    /// once.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.pace = None;
        }
        read
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

    /// hyper flushes when it has written all that it has: a whole response, or a part of a compressed one or of a stream.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(pace) = &mut self.pace {
            pace.idle_since.get_or_insert_with(Instant::now);
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
