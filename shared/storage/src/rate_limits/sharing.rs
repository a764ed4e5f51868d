//! Sharing of counts between processes. At a short interval, each process adds its new requests to totals in
//! Redis and raises its own counts to these totals. A caller that uses several processes can exceed a limit
//! until the next exchange.

use crate::rate_limits::{Count, RateLimiter, WINDOW, window_at};
use crate::redis::{Redis, Unavailable};
use ::redis::Pipeline;
use foundation::clock::{self, Timestamp};
use foundation::secret;
use foundation::sync::lock;
use std::time::Duration;

/// The time between two exchanges with Redis.
const INTERVAL: Duration = Duration::from_millis(200);
/// The largest number of totals in one Redis pipeline.
const BATCH_SIZE: usize = 1_000;

/// The new requests of one caller under one limit since the last exchange, less those that were taken back.
struct Increment {
    key: String,
    window: i64,
    requests: i64,
}

impl RateLimiter {
    /// Shares the counts with other processes until the task is aborted. Returns at once if requests are not
    /// limited. While Redis is unavailable, each process counts alone.
    pub async fn share_counts(self, redis: Redis) {
        if self.quotas.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(INTERVAL).await;
            for increments in self.take_increments(clock::now()).chunks(BATCH_SIZE) {
                match add_to_totals(&redis, increments).await {
                    Ok(totals) => self.apply_totals(increments, &totals),
                    Err(error) => {
                        tracing::debug!(%error, "cannot share rate limit counts: each process counts alone");
                        self.restore_increments(increments);
                    }
                }
            }
        }
    }

    /// Takes the unshared requests of the current window.
    fn take_increments(&self, now: Timestamp) -> Vec<Increment> {
        let current = window_at(now);
        let mut counts = lock(&self.counts);
        let unshared = counts
            .iter_mut()
            .filter(|(_, count)| count.window == current && count.unshared != 0);
        unshared
            .map(|(key, count)| Increment {
                key: key.clone(),
                window: count.window,
                requests: std::mem::take(&mut count.unshared),
            })
            .collect()
    }

    /// Puts increments back after a failed exchange.
    fn restore_increments(&self, increments: &[Increment]) {
        for increment in increments {
            self.update(increment, |count| {
                count.unshared = count.unshared.saturating_add(increment.requests);
            });
        }
    }

    /// Raises each count to its total plus the requests since the exchange. A lower total, which an emptied
    /// Redis returns, changes nothing.
    fn apply_totals(&self, increments: &[Increment], totals: &[i64]) {
        for (increment, total) in increments.iter().zip(totals) {
            self.update(increment, |count| {
                let total = total.saturating_add(count.unshared).clamp(0, u32::MAX.into());
                count.requests = count.requests.max(u32::try_from(total).unwrap_or(u32::MAX));
            });
        }
    }

    /// Updates the count of an increment, unless it was evicted or its window is over.
    fn update(&self, increment: &Increment, change: impl FnOnce(&mut Count)) {
        let mut counts = lock(&self.counts);
        let count = counts.get_mut(&increment.key);
        if let Some(count) = count.filter(|count| count.window == increment.window) {
            change(count);
        }
    }
}

/// Adds increments to their totals in Redis and returns the new totals.
async fn add_to_totals(redis: &Redis, increments: &[Increment]) -> Result<Vec<i64>, Unavailable> {
    let mut pipeline = Pipeline::new();
    for increment in increments {
        // Hashed, because keys contain addresses.
        let hash = secret::encode(&secret::hash(&increment.key));
        let key = redis.key(&format!("rate:{}:{hash}", increment.window));
        pipeline.incr(&key, increment.requests);
        let time_to_live = WINDOW.as_secs().cast_signed() * 2;
        pipeline.expire(&key, time_to_live).ignore();
    }
    redis.pipeline(&pipeline).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limits::Quotas;

    #[test]
    fn totals_of_other_processes_count_and_unshared_requests_are_added() {
        let quotas = Quotas {
            reads: 10,
            writes: 1,
            address: 1,
            client: 1,
        };
        let (limiter, now) = (RateLimiter::new(Some(quotas)), Timestamp::from_micros(0));
        let read = || limiter.by_principal("1", true, now).unwrap().remaining;
        assert_eq!((read(), read()), (9, 8));
        let increments = limiter.take_increments(now);
        assert_eq!((increments.len(), increments[0].requests), (1, 2));
        assert_eq!(read(), 7);
        limiter.apply_totals(&increments, &[6]);
        assert_eq!(read(), 2, "six in total, one unshared, and this one");
        let increments = limiter.take_increments(now);
        limiter.apply_totals(&increments, &[1]);
        assert_eq!(read(), 1, "an emptied Redis does not lower a count");
        limiter.restore_increments(&increments);
        let increments = limiter.take_increments(now);
        assert_eq!(increments[0].requests, 3, "two that were restored, and one since");
        let later = now.after(WINDOW);
        assert!(limiter.take_increments(later).is_empty(), "the window is over");
    }
}
