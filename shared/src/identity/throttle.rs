//! Throttles: how often something may be asked for, whoever asks and whatever comes of it.

use crate::clock::Timestamp;
use crate::ephemeral::{Attempt, Ephemeral, Window};
use crate::redis::Unavailable;
use std::time::Duration;

/// Those who are over a throttle while others of theirs are being counted wait so long.
const MOMENT: Duration = Duration::from_secs(1);

/// Counts one more under `key`. `Some` is for how long there may be no more.
pub(super) async fn count(
    ephemeral: &Ephemeral,
    key: &str,
    window: Window,
    now: Timestamp,
) -> Result<Option<Duration>, Unavailable> {
    Ok(match ephemeral.begin_attempt(key, window, now).await? {
        Attempt::Begun => {
            ephemeral.attempt_failed(key, window, now).await?;
            None
        }
        Attempt::Busy => Some(MOMENT),
        Attempt::Locked(until) => Some(until.since(now)),
    })
}
