//! The feed: a notification to every process that something in the database changed, so that none waits for its
//! next look. The database has the facts: a notification that is lost costs time and nothing else.

use crate::redis::{Redis, Unavailable};
use foundation::random;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Words that a slow listener may be behind.
const BACKLOG: usize = 64;
/// The channel between processes.
const CHANNEL: &str = "feed";
/// How often to look whether Redis is still the one it was, and to try for a new connection.
const EPOCH_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// What is to be looked at anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// The revocations.
    RevocationsChanged,
    /// The signing keys: the published set now has this entity tag.
    SigningKeysChanged(String),
    /// Everything: messages may have been lost.
    Missed,
}

/// Says messages and hears them. Cheap to clone; the clones share one feed.
#[derive(Clone, Debug)]
pub struct Notifications(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    local: broadcast::Sender<Notification>,
    redis: Option<Redis>,
    /// Tells our own messages from others'.
    sender_id: String,
}

/// Hears a feed.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Notification>);

impl Notifications {
    /// A feed within this process, and to those that share its Redis if it has one.
    pub fn new(redis: Option<Redis>) -> Self {
        Self(Arc::new(Inner {
            local: broadcast::Sender::new(BACKLOG),
            redis,
            sender_id: random::id(),
        }))
    }

    /// Tells every listener: in this process at once, redis through Redis. Call it after the commit.
    pub async fn publish(&self, notification: Notification) {
        self.publish_locally(notification.clone());
        if let Some(redis) = &self.0.redis
            && let Some(text) = notification.to_text()
            && let Err(error) = redis
                .publish(CHANNEL, &format!("{} {text}", self.0.sender_id))
                .await
        {
            tracing::warn!(%error, "the other processes were not told: they find out at their next look");
        }
    }

    /// Hears what is said from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.0.local.subscribe())
    }

    /// Passes on what other processes say, for ever.
    pub async fn follow(self) {
        let Some(redis) = self.0.redis.clone() else {
            return;
        };
        let mut epoch = None;
        loop {
            if let Err(error) = self.receive(&redis, &mut epoch).await {
                tracing::warn!(%error, "the feed is interrupted");
            }
            tokio::time::sleep(EPOCH_CHECK_INTERVAL).await;
        }
    }

    /// Hears one connection to its end. What was said before it began is lost, and so is what an emptied
    /// Redis or another one was told.
    async fn receive(&self, redis: &Redis, epoch: &mut Option<String>) -> Result<(), Unavailable> {
        let mut messages = redis.subscribe(CHANNEL).await?.into_on_message();
        self.publish_locally(Notification::Missed);
        let mut look = tokio::time::interval(EPOCH_CHECK_INTERVAL);
        loop {
            tokio::select! {
                message = messages.next() => match message {
                    Some(message) => self.relay(&String::from_utf8_lossy(message.get_payload_bytes())),
                    None => return Ok(()),
                },
                _ = look.tick() => {
                    let now = redis.epoch().await?;
                    if epoch.replace(now.clone()).is_some_and(|before| before != now) {
                        tracing::warn!("Redis was emptied or replaced: everything is read from the database anew");
                        self.publish_locally(Notification::Missed);
                        // The messages of the present one are heard by a connection to it.
                        return Ok(());
                    }
                }
            }
        }
    }

    fn relay(&self, text: &str) {
        if let Some((sender_id, text)) = text.split_once(' ')
            && sender_id != self.0.sender_id
        {
            // A newer version may say what this one does not know.
            self.publish_locally(Notification::parse(text).unwrap_or(Notification::Missed));
        }
    }

    fn publish_locally(&self, notification: Notification) {
        // Nobody listening is no failure.
        let _ = self.0.local.send(notification);
    }
}

impl Subscription {
    /// The next notification. One who was too slow hears that some were missed.
    pub async fn next(&mut self) -> Notification {
        match self.0.recv().await {
            Ok(notification) => notification,
            Err(RecvError::Lagged(_)) => Notification::Missed,
            // Without a feed there is nothing to hear, ever.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    /// A notification that was said already and not heard yet.
    pub fn try_next(&mut self) -> Option<Notification> {
        match self.0.try_recv() {
            Ok(notification) => Some(notification),
            Err(TryRecvError::Lagged(_)) => Some(Notification::Missed),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// The next notification of the signing keys: their set's entity tag, or `None` where messages were missed.
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
    /// As written between processes; [`Missed`](Self::Missed) is each one's own affair.
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
        fn a_word_is_heard_as_it_was_said(etag in "\\PC{0,40}") {
            let said = Notification::SigningKeysChanged(etag);
            prop_assert_eq!(Notification::parse(&said.to_text().unwrap()), Some(said));
        }

        #[test]
        fn any_text_is_a_word_or_not(text in "\\PC{0,40}") {
            let _ = Notification::parse(&text);
        }
    }

    #[test]
    fn a_word_of_a_newer_version_is_one_that_was_missed() {
        let feed = Notifications::new(None);
        let mut heard = feed.0.local.subscribe();
        feed.relay("another revoked");
        feed.relay("another something new");
        feed.relay(&format!("{} revoked", feed.0.sender_id));
        assert_eq!(heard.try_recv(), Ok(Notification::RevocationsChanged));
        assert_eq!(heard.try_recv(), Ok(Notification::Missed));
        assert!(
            heard.try_recv().is_err(),
            "our own messages were heard when they were said"
        );
    }
}
