//! A connection whose client must send request heads in time and accept responses at a minimum rate, because a
//! response stays in memory until it is accepted. Its close waits for the client (see [`LingeringClose`]).

use crate::head_timer::HeadTimer;
use crate::lingering_close::LingeringClose;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use web::budget;

/// The period over which the rate of a client is measured. Bytes that the kernel buffers count as accepted,
/// so a client that reads too slowly may pass the first period and is disconnected at the end of the second.
const PERIOD: Duration = Duration::from_secs(30);
/// The bytes that a client which keeps the program waiting must accept in each period: 17 KiB a second.
const MIN_ACCEPTED: u64 = 512 * 1024;
/// The time after which a client must have accepted [`MIN_AVERAGE`] too. No page of a list is so large that
/// it lasts longer at that rate, so this is the time limit of a page. An export may be larger.
const LONG: Duration = Duration::from_secs(300);
/// The rate of a whole response that takes long, in bytes a second.
const MIN_AVERAGE: u64 = 64 * 1024;

/// A stream whose reads and writes fail with [`io::ErrorKind::TimedOut`] if the peer is too slow. A peer that
/// never keeps a write waiting is not measured.
#[derive(Debug)]
pub(crate) struct PacedStream<S> {
    stream: S,
    heads: HeadTimer,
    /// The speed by which the budgets of what clients hold compare this peer with others.
    compared: Arc<budget::Pace>,
    /// The measurement of the current response; `None` if the peer has not kept a write of it waiting.
    measurement: Option<Measurement>,
    peer_has_ended: bool,
    /// The wait for the peer to end its output; `None` while this side still sends.
    closing: Option<LingeringClose>,
}

/// The pace of a peer, and the timer of its current period.
#[derive(Debug)]
struct Measurement {
    pace: Pace,
    timer: Pin<Box<Sleep>>,
}

/// The speed at which a peer accepts a response since it first kept a write waiting. The time in which there
/// is nothing to write does not count.
#[derive(Debug)]
struct Pace {
    began: Instant,
    /// The end of the current period.
    period_end: Instant,
    /// The number of bytes that the peer has accepted in this period.
    in_period: u64,
    /// The number of bytes that it has accepted in all.
    in_all: u64,
    /// The time since which there is nothing to write.
    idle_since: Option<Instant>,
}

impl<S> PacedStream<S> {
    pub(crate) const fn new(stream: S, heads: HeadTimer, compared: Arc<budget::Pace>) -> Self {
        Self {
            stream,
            heads,
            compared,
            measurement: None,
            peer_has_ended: false,
            closing: None,
        }
    }

    /// Counts the bytes of a write that was polled with the result `written`, and returns the result. Returns
    /// an error in its place if the write is pending and the peer is too slow.
    fn check(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Some(Measurement { pace, .. }) = &mut self.measurement {
            pace.resume(Instant::now());
        }
        match written {
            Poll::Ready(Ok(count)) => {
                if let Some(Measurement { pace, .. }) = &mut self.measurement {
                    pace.accept(count as u64);
                }
                self.compared.count(count);
                Poll::Ready(Ok(count))
            }
            Poll::Pending
                if self
                    .measurement
                    .get_or_insert_with(|| {
                        // The bytes that the kernel has buffered until now say nothing about the peer.
                        self.compared.restart();
                        Measurement::begin()
                    })
                    .is_too_slow(cx) =>
            {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}

impl Measurement {
    fn begin() -> Self {
        let pace = Pace::new(Instant::now());
        let timer = Box::pin(sleep_until(pace.period_end));
        Self { pace, timer }
    }

    /// Returns whether the peer is too slow. If not, the task is woken at the end of the period.
    fn is_too_slow(&mut self, cx: &mut Context<'_>) -> bool {
        while !self.pace.is_too_slow(Instant::now()) {
            if self.timer.deadline() != self.pace.period_end {
                self.timer.as_mut().reset(self.pace.period_end);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return false;
            }
        }
        true
    }
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self {
            began: now,
            period_end: now + PERIOD,
            in_period: 0,
            in_all: 0,
            idle_since: None,
        }
    }

    /// Counts bytes that the peer has accepted.
    const fn accept(&mut self, bytes: u64) {
        self.in_period += bytes;
        self.in_all += bytes;
    }

    /// Begins a time in which there is nothing to write, unless one has begun.
    fn pause(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
    }

    /// Ends the time in which there was nothing to write, and moves all times by it.
    fn resume(&mut self, now: Instant) {
        if let Some(since) = self.idle_since.take() {
            let idle = now.duration_since(since);
            self.began += idle;
            self.period_end += idle;
        }
    }

    /// Returns whether the period has ended and the peer was too slow in it, or in all periods together. If
    /// the period has ended and the peer was not too slow, begins the next one.
    fn is_too_slow(&mut self, now: Instant) -> bool {
        if now < self.period_end {
            return false;
        }
        let waited = now.duration_since(self.began);
        let is_below_average = waited >= LONG && self.in_all < MIN_AVERAGE * waited.as_secs();
        if self.in_period < MIN_ACCEPTED || is_below_average {
            return true;
        }
        self.in_period = 0;
        self.period_end = now + PERIOD;
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    /// Ends the measurement of the pace, because input belongs to the next request, whose response has a pace
    /// of its own. During a response, hyper reads at most once.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let count = buffer.filled().len() - before;
        let got_bytes = count > 0;
        self.peer_has_ended = read.is_ready() && !got_bytes;
        if got_bytes {
            self.measurement = None;
            self.compared.count(count);
        }
        self.heads.check(cx, read, got_bytes)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PacedStream<S> {
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

    /// hyper flushes when it has written all that it has: a whole response, or a part of a compressed one or
    /// of a stream.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(Measurement { pace, .. }) = &mut self.measurement {
            pace.pause(Instant::now());
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Ends the output, and is ready when the connection can be closed without a loss of that output.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
        }
        if !this.peer_has_ended {
            let closing = this.closing.get_or_insert_with(LingeringClose::begin);
            ready!(closing.poll(&mut this.stream, cx));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const KIB: u64 = 1024;
    const HOUR: u32 = 3600;

    /// Returns the time after which a peer is disconnected that accepts `bytes` in each second and keeps the
    /// next write waiting for the rest of it, or `None` if it lasts for an hour. In every tenth second there
    /// is nothing to write for `pause` more.
    fn lasts(bytes: u64, pause: Duration) -> Option<Duration> {
        let began = Instant::now();
        let mut now = began;
        let mut pace = Pace::new(began);
        (1..=HOUR).find_map(|second| {
            pace.accept(bytes);
            if second.is_multiple_of(10) {
                pace.pause(now);
                now += pause;
                pace.resume(now);
            }
            now += SECOND;
            pace.is_too_slow(now).then(|| now - began)
        })
    }

    #[test]
    fn a_peer_must_accept_half_a_mebibyte_in_each_period() {
        for rate in [0, KIB, 17 * KIB] {
            assert_eq!(lasts(rate, Duration::ZERO), Some(PERIOD), "{rate}");
        }
        assert_eq!(lasts(18 * KIB, Duration::ZERO), Some(LONG));
    }

    #[test]
    fn a_peer_must_accept_64_kib_a_second_in_five_minutes() {
        for rate in [30 * KIB, 63 * KIB] {
            assert_eq!(lasts(rate, Duration::ZERO), Some(LONG), "{rate}");
        }
        for rate in [64 * KIB, 70 * KIB] {
            assert_eq!(lasts(rate, Duration::ZERO), None, "{rate}");
        }
    }

    #[test]
    fn time_without_anything_to_write_does_not_count() {
        // A period has 30 s, and with them three pauses of a minute.
        assert_eq!(lasts(30 * KIB, 60 * SECOND), Some(7 * LONG));
        assert_eq!(lasts(KIB, 60 * SECOND), Some(7 * PERIOD));
        assert_eq!(lasts(70 * KIB, 60 * SECOND), None);
    }

    #[test]
    fn a_fast_beginning_counts_in_the_average_and_not_in_the_periods() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.accept(MIN_AVERAGE * 3600);
        assert!(!pace.is_too_slow(now + PERIOD));
        assert!(pace.is_too_slow(now + 2 * PERIOD));
    }
}
