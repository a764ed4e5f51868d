//! The time limit of request heads.
//!
//! hyper has one time limit for the wait for a request and for the arrival of its head. A kept connection may be idle for longer than a
//! head may take to arrive, so hyper has the limit of idle connections, and this timer that of heads.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The time limit for the arrival of a request head. For the first one of a connection it begins with the connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The beginnings and ends of the requests of a connection, counted by its service: the number is odd while a request is handled.
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
    /// Used again for each head, because a new timer costs an allocation.
    timer: Pin<Box<Sleep>>,
    /// Whether a head is expected or arriving.
    is_running: bool,
}

impl HeadTimer {
    /// Starts the timer of the first head.
    pub(crate) fn start(requests: Requests) -> Self {
        Self {
            requests,
            counted: 0,
            timer: Box::pin(sleep(HEAD_TIMEOUT)),
            is_running: true,
        }
    }

    /// Returns `read`, the result of a read that got bytes or not. Returns [`io::ErrorKind::TimedOut`] in its place if the read is pending
    /// and a head has been arriving for too long. The first bytes after a request start the timer, and the next request stops it.
    pub(crate) fn check(
        &mut self,
        cx: &mut Context<'_>,
        read: Poll<io::Result<()>>,
        got_bytes: bool,
    ) -> Poll<io::Result<()>> {
        let count = self.requests.0.load(Ordering::Relaxed);
        if count != self.counted {
            self.counted = count;
            self.is_running = false;
        }
        let is_handling = count % 2 == 1;
        if got_bytes && !self.is_running && !is_handling {
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
