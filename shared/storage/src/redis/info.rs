//! Facts about the Redis server: its version, its clock, and whether it evicts keys.

use super::{Redis, Unavailable};
use foundation::clock::{self, Timestamp};

/// The reason why Redis may lose keys that matter.
#[derive(Debug, thiserror::Error)]
#[error(
    "this Redis evicts keys when its memory is full (maxmemory-policy {0}): set maxmemory-policy to noeviction"
)]
pub struct Evicts(String);

impl Redis {
    /// Reads `maxmemory-policy`. Returns [`Evicts`] if Redis evicts keys when its memory is full, because a
    /// flood of keys could then lift a lockout.
    pub async fn eviction(&self) -> Result<Option<Evicts>, Unavailable> {
        let policy = self.info("memory", "maxmemory_policy").await?;
        Ok((policy != "noeviction").then_some(Evicts(policy)))
    }

    /// Returns the version of the server, such as `7.4.1`.
    pub async fn version(&self) -> Result<String, Unavailable> {
        self.info("server", "redis_version").await
    }

    /// Returns the microseconds by which the clock of this machine is ahead of that of Redis, negative if it
    /// is behind.
    pub async fn ahead_by(&self) -> Result<i64, Unavailable> {
        let before = clock::now();
        let (seconds, micros): (i64, i64) = self.query(&::redis::cmd("TIME")).await?;
        let redis = Timestamp::from_micros(seconds.saturating_mul(1_000_000).saturating_add(micros));
        Ok(clock::ahead_of(redis, before, clock::now()))
    }

    /// Returns a field of a section of INFO, or `unknown` if there is none.
    async fn info(&self, section: &str, field: &str) -> Result<String, Unavailable> {
        let text: String = self.query(::redis::cmd("INFO").arg(section)).await?;
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        Ok(value.map_or("unknown", str::trim).to_owned())
    }
}
