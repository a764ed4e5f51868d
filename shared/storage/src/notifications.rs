//! Notifications by which a process informs the others that rows in the database changed, so that they reload
//! these rows before their next poll. The rows themselves are always read from the database: if a
//! notification is lost, the receiver sees the change at its next poll.

use crate::redis::{Redis, Unavailable};
use foundation::random;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// The number of notifications that are kept for a slow subscriber.
const CAPACITY: usize = 64;
/// The Redis channel between processes.
const CHANNEL: &str = "notifications";
/// The interval at which to check whether Redis was emptied, replaced or started again, and the pause before
/// a reconnection.
const DATA_SET_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A change in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// Revocations were added.
    RevocationsChanged,
    /// The signing keys changed. Holds the new entity tag of the published key set.
    SigningKeysChanged(String),
    /// Notifications may have been lost: the subscriber must reload everything.
    Missed,
}

/// Publishes notifications within this process and, through Redis, to other processes. Clones share their
/// subscribers.
#[derive(Clone, Debug)]
pub struct Notifications(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    local: broadcast::Sender<Notification>,
    redis: Option<Redis>,
    /// Identifies the messages of this process, which it ignores when Redis returns them.
    sender_id: String,
}

/// Receives notifications.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Notification>);

impl Notifications {
    /// Creates notifications between the processes that share `redis`, or within this process only.
    pub fn new(redis: Option<Redis>) -> Self {
        Self(Arc::new(Inner {
            local: broadcast::Sender::new(CAPACITY),
            redis,
            sender_id: random::id(),
        }))
    }

    /// Returns the Redis between the processes, if there is one.
    pub fn redis(&self) -> Option<Redis> {
        self.0.redis.clone()
    }

    /// Notifies every subscriber, here and in other processes. Call it after the commit, so that subscribers
    /// see the change.
    pub async fn publish(&self, notification: Notification) {
        self.publish_locally(notification.clone());
        if let Some(redis) = &self.0.redis
            && let Some(text) = notification.to_text()
            && let Err(error) = redis
                .publish(CHANNEL, &format!("{} {text}", self.0.sender_id))
                .await
        {
            tracing::warn!(%error, "cannot notify other processes: they see the change at their next poll");
        }
    }

    /// Subscribes to the notifications from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.0.local.subscribe())
    }

    /// Relays notifications of other processes until the task is aborted. Checks the eviction policy of Redis
    /// when Redis answers for the first time, and after it was emptied, replaced or started again. Returns at
    /// once if there is no Redis.
    pub async fn follow(self) {
        let Some(redis) = self.0.redis.clone() else {
            return;
        };
        let mut data_set = None;
        loop {
            if let Err(error) = self.receive(&redis, &mut data_set).await {
                tracing::warn!(%error, "the subscription to notifications of other processes is interrupted");
            }
            tokio::time::sleep(DATA_SET_CHECK_INTERVAL).await;
        }
    }

    /// Relays the notifications of one connection until it ends. Publishes [`Notification::Missed`] at the
    /// start and when Redis was emptied, replaced or started again, because notifications may have been lost
    /// before.
    async fn receive(&self, redis: &Redis, data_set: &mut Option<String>) -> Result<(), Unavailable> {
        let mut messages = redis.subscribe(CHANNEL).await?.into_on_message();
        self.publish_locally(Notification::Missed);
        let mut check = tokio::time::interval(DATA_SET_CHECK_INTERVAL);
        loop {
            tokio::select! {
                message = messages.next() => match message {
                    Some(message) => self.relay(&String::from_utf8_lossy(message.get_payload_bytes())),
                    None => return Ok(()),
                },
                _ = check.tick() => {
                    let current = redis.data_set().await?;
                    let former = data_set.replace(current.clone());
                    if former.as_ref() == Some(&current) {
                        continue;
                    }
                    let is_replaced = former.is_some();
                    if is_replaced {
                        tracing::warn!("Redis was emptied, replaced or started again: reloading everything from the database");
                        self.publish_locally(Notification::Missed);
                    }
                    report_eviction(redis).await;
                    if is_replaced {
                        // This connection may still be to the replaced Redis.
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Publishes a message of another process in this one.
    fn relay(&self, message: &str) {
        if let Some((sender_id, text)) = message.split_once(' ')
            && sender_id != self.0.sender_id
        {
            // A process of a newer version may send notifications that this one does not know.
            self.publish_locally(Notification::parse(text).unwrap_or(Notification::Missed));
        }
    }

    fn publish_locally(&self, notification: Notification) {
        // Sending fails only if there is no subscriber, which is not an error.
        let _ = self.0.local.send(notification);
    }
}

/// Logs an error if Redis evicts keys.
async fn report_eviction(redis: &Redis) {
    match redis.eviction().await {
        Ok(None) => {}
        Ok(Some(evicts)) => tracing::error!(error = %evicts, "Redis may drop lockouts"),
        Err(error) => tracing::warn!(%error, "the eviction policy of Redis could not be read"),
    }
}

impl Subscription {
    /// Waits for the next notification. Returns [`Notification::Missed`] to a subscriber that was too slow.
    pub async fn next(&mut self) -> Notification {
        match self.0.recv().await {
            Ok(notification) => notification,
            Err(RecvError::Lagged(_)) => Notification::Missed,
            // The publisher is gone, so there will be no notification.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    /// Returns the next notification if one is waiting.
    pub fn try_next(&mut self) -> Option<Notification> {
        match self.0.try_recv() {
            Ok(notification) => Some(notification),
            Err(TryRecvError::Lagged(_)) => Some(Notification::Missed),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// Waits for the next change of the signing keys. Returns the entity tag of the key set, or `None` if
    /// notifications may have been lost.
    pub async fn next_signing_keys(&mut self) -> Option<String> {
        loop {
            match self.next().await {
                Notification::SigningKeysChanged(etag) => return Some(etag),
                Notification::Missed => return None,
                Notification::RevocationsChanged => {}
            }
        }
    }
}

impl Notification {
    /// Returns the text to send to other processes, or `None` for [`Missed`](Self::Missed), which concerns
    /// only this process.
    fn to_text(&self) -> Option<String> {
        match self {
            Self::RevocationsChanged => Some("revoked".to_owned()),
            Self::SigningKeysChanged(etag) => Some(format!("keys {etag}")),
            Self::Missed => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            None if text == "revoked" => Some(Self::RevocationsChanged),
            Some(("keys", etag)) => Some(Self::SigningKeysChanged(etag.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn notifications_survive_a_round_trip(etag in "\\PC{0,40}") {
            let notification = Notification::SigningKeysChanged(etag);
            prop_assert_eq!(Notification::parse(&notification.to_text().unwrap()), Some(notification));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC{0,40}") {
            let _ = Notification::parse(&text);
        }
    }

    #[test]
    fn an_unknown_notification_counts_as_missed() {
        let notifications = Notifications::new(None);
        let mut subscription = notifications.subscribe();
        notifications.relay("another revoked");
        notifications.relay("another something new");
        notifications.relay(&format!("{} revoked", notifications.0.sender_id));
        assert_eq!(subscription.try_next(), Some(Notification::RevocationsChanged));
        assert_eq!(subscription.try_next(), Some(Notification::Missed));
        assert_eq!(subscription.try_next(), None, "own messages are ignored");
    }
}
