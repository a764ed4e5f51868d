//! The source of new revocations.

use crate::list::StreamPosition;
use std::time::{Duration, Instant};

/// The time between two attempts to follow the stream in Redis. Each may delay a read by the time limit of a
/// Redis command.
const STREAM_RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Where the next read finds new revocations.
#[derive(Debug)]
pub(super) enum Source {
    /// The database. If there is a list in Redis, this process tries to follow its stream after `until`.
    Database { until: Instant },
    /// The database, once more, and after it the stream beyond this position. The position was taken before
    /// the read, so every revocation that the read does not find is beyond it.
    DatabaseBefore(StreamPosition),
    /// The stream of the list in Redis, beyond this position.
    Stream(StreamPosition),
}

impl Source {
    /// Returns the database as the source for [`STREAM_RETRY_INTERVAL`].
    pub(super) fn database() -> Self {
        let until = Instant::now() + STREAM_RETRY_INTERVAL;
        Self::Database { until }
    }
}
