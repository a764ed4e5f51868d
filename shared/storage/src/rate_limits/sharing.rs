//! Pooling the counts of several processes: a few times a second each adds what it counted to a sum in Redis,
//! and takes the sum for its own count. A caller may exceed a limit by what fits into that time.

use crate::rate_limits::{Count, RateLimiter, WINDOW, window};
use crate::redis::{Redis, Unavailable};
use ::redis::Pipeline;
use foundation::clock;
use foundation::clock::Timestamp;
use foundation::secret;
use std::sync::PoisonError;
use std::time::Duration;

/// How often.
const EVERY: Duration = Duration::from_millis(200);
/// Sums asked for at once.
const BATCH: usize = 1_000;

/// What one caller did here since the last time.
struct Share {
    key: String,
    window: i64,
    made: u32,
}

impl RateLimiter {
    /// Pools for ever. While Redis is away each process counts for itself.
    pub async fn share_counts(self, redis: Redis) {
        if self.quotas.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(EVERY).await;
            for shares in self.shares(clock::now()).chunks(BATCH) {
                match sums(&redis, shares).await {
                    Ok(sums) => self.learn(shares, &sums),
                    Err(error) => {
                        tracing::debug!(%error, "rate limits are counted by each process alone");
                        self.keep(shares);
                    }
                }
            }
        }
    }

    /// What was not pooled yet, and is from now on.
    fn shares(&self, now: Timestamp) -> Vec<Share> {
        let present = window(now);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let unpooled = counts
            .iter_mut()
            .filter(|(_, count)| count.window == present && count.unpooled > 0);
        unpooled
            .map(|(key, count)| Share {
                key: key.clone(),
                window: count.window,
                made: std::mem::take(&mut count.unpooled),
            })
            .collect()
    }

    /// Keeps what could not be pooled for the next time.
    fn keep(&self, shares: &[Share]) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for share in shares {
            if let Some(count) = counts
                .get_mut(&share.key)
                .filter(|count| count.window == share.window)
            {
                count.unpooled = count.unpooled.saturating_add(share.made);
            }
        }
    }

    /// Takes the sums for the counts; what was counted here meanwhile comes on top. A sum that knows less
    /// than this process (Redis was emptied) takes nothing back.
    fn learn(&self, shares: &[Share], sums: &[u32]) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (share, sum) in shares.iter().zip(sums) {
            if let Some(count) = counts
                .get_mut(&share.key)
                .filter(|count| count.window == share.window)
            {
                let Count { unpooled, .. } = *count;
                count.made = count.made.max(sum.saturating_add(unpooled));
            }
        }
    }
}

/// Adds shares to their sums, and gives these.
async fn sums(redis: &Redis, shares: &[Share]) -> Result<Vec<u32>, Unavailable> {
    let mut pipeline = Pipeline::new();
    for share in shares {
        // Hashed: keys hold addresses.
        let name = secret::encode(&secret::hash(&share.key));
        let name = redis.name(&format!("rate:{}:{name}", share.window));
        pipeline.incr(&name, share.made);
        let kept = WINDOW.as_secs().cast_signed() * 2;
        pipeline.expire(&name, kept).ignore();
    }
    redis.pipeline(&pipeline).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limits::{Quotas, RateLimiter};

    #[test]
    fn what_others_counted_counts_here_and_what_came_meanwhile_comes_on_top() {
        let quotas = Quotas {
            reads: 10,
            writes: 1,
            address: 1,
        };
        let (limits, now) = (RateLimiter::new(Some(quotas)), Timestamp::from_micros(0));
        let read = || limits.by_principal("1", true, now).unwrap().remaining;
        assert_eq!((read(), read()), (9, 8));
        let shares = limits.shares(now);
        assert_eq!((shares.len(), shares[0].made), (1, 2));
        assert_eq!(read(), 7);
        limits.learn(&shares, &[6]);
        assert_eq!(read(), 2, "six pooled, one since, and this one");
        let shares = limits.shares(now);
        limits.learn(&shares, &[1]);
        assert_eq!(read(), 1, "an emptied Redis gives nothing back");
        limits.keep(&shares);
        let shares = limits.shares(now);
        assert_eq!(shares[0].made, 3, "two that were not pooled, and one since");
        let later = now.after(WINDOW);
        assert!(limits.shares(later).is_empty(), "of another window nobody asks");
    }
}
