//! The time limit of request heads.
//!
//! hyper has one time limit for the wait for a request and for the arrival of its head. A kept connection may
//! be idle for longer than a head may take to arrive, so hyper has the limit of idle connections, and this
//! timer that of heads.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The time limit for the arrival of a request head. For the first one of a connection it begins with the
/// connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The beginnings and ends of the requests of a connection, counted by its service: the number is odd while a
/// request is handled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Arc<AtomicU64>);

impl Requests {
    /// Counts the beginning of a request.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the end of a request: the head of its response is complete.
    pub(crate) fn end(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The timer of a connection.
#[derive(Debug)]
pub(crate) struct HeadTimer {
    requests: Requests,
    /// The count of `requests` at the last read.
    counted: u64,
    /// Whether a part of a head has arrived.
    has_part: bool,
    /// Used again for each head, because a new timer costs an allocation.
    timer: Pin<Box<Sleep>>,
    is_running: bool,
}

impl HeadTimer {
    /// Starts the timer of the first head.
    pub(crate) fn start(requests: Requests) -> Self {
        Self {
            requests,
            counted: 0,
            has_part: false,
            timer: Box::pin(sleep(HEAD_TIMEOUT)),
            is_running: true,
        }
    }

    /// Returns `read`, the result of a read that got bytes or not. Returns [`io::ErrorKind::TimedOut`] in its
    /// place if the read is pending and a head has been arriving for too long. The timer starts when a read
    /// is pending after a part of a head, so it costs nothing for a head that arrives as a whole. The next
    /// request stops it.
    pub(crate) fn check(
        &mut self,
        cx: &mut Context<'_>,
        read: Poll<io::Result<()>>,
        got_bytes: bool,
    ) -> Poll<io::Result<()>> {
        let count = self.requests.0.load(Ordering::Relaxed);
        if count != self.counted {
            self.counted = count;
            self.has_part = false;
            self.is_running = false;
        }
        let is_handling = count % 2 == 1;
        self.has_part |= got_bytes && !is_handling;
        if read.is_pending() && self.has_part && !self.is_running {
            self.timer.as_mut().reset(Instant::now() + HEAD_TIMEOUT);
            self.is_running = true;
        }
        match read {
            Poll::Pending if self.is_running && self.timer.as_mut().poll(cx).is_ready() => {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}
