//! The limits of registrations by anybody: per network, and of those that were never used, so that a flood
//! does not fill the disk.

use super::Error;
use foundation::context::RequestContext;
use identity::clients::unused;
use std::time::{Duration, Instant};
use storage::db::{self, Db};
use storage::expiring::{ExpiringStore, Window};
use tokio::sync::Mutex;

/// The registrations from one network.
const PER_NETWORK: Window = Window::throttle(20, Duration::from_secs(3600));
/// The clients of this installation that were never used. They take some 100 MB.
const MAX_UNUSED: i64 = 100_000;
/// The age at which the number of those clients is read again. Between two reads, a process adds its own
/// registrations.
const MAX_AGE: Duration = Duration::from_secs(10);
/// The time after which some of them may have been used or deleted.
const RETRY_AFTER: Duration = Duration::from_secs(600);

/// Counts the registrations by anybody.
#[derive(Debug)]
pub(super) struct Limits {
    expiring: ExpiringStore,
    /// The number of clients that were never used, and the time at which it was read.
    unused: Mutex<Option<(Instant, i64)>>,
}

impl Limits {
    pub(super) fn new(expiring: ExpiringStore) -> Self {
        Self {
            expiring,
            unused: Mutex::default(),
        }
    }

    /// Counts a registration. Fails with [`Error::Limited`] if a limit is reached.
    pub(super) async fn take(&self, db: &Db, context: &RequestContext) -> Result<(), Error> {
        if !self.has_room(db).await? {
            return Err(Error::Limited {
                reason: "too many apps registered themselves and are not used yet",
                retry_after: RETRY_AFTER,
            });
        }
        let by_network = PER_NETWORK.count(format!("registrations from {}", context.network()));
        match self.expiring.take(&[by_network], context.now).await? {
            None => Ok(()),
            Some(retry_after) => Err(Error::Limited {
                reason: "too many apps were registered from your network",
                retry_after,
            }),
        }
    }

    /// Returns whether there is room for one more client that was never used, and counts it.
    async fn has_room(&self, db: &Db) -> Result<bool, db::Error> {
        let mut known = self.unused.lock().await;
        let (read_at, unused) = match *known {
            Some((read_at, unused)) if read_at.elapsed() < MAX_AGE => (read_at, unused),
            _ => (Instant::now(), unused::count(db).await?),
        };
        *known = Some((read_at, unused + 1));
        Ok(unused < MAX_UNUSED)
    }
}
