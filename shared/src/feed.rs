//! The feed: a word to every process that something in the database changed, so that none waits for its
//! next look. The database has the facts: a word that is lost costs time and nothing else.

use crate::random;
use crate::redis::{Redis, Unavailable};
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
const LOOK: Duration = Duration::from_secs(1);

/// What is to be looked at anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The revocations.
    Revoked,
    /// The signing keys: the published set now has this entity tag.
    Keys(String),
    /// Everything: words may have been lost.
    Missed,
}

/// Says words and hears them. Cheap to clone; the clones share one feed.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    here: broadcast::Sender<Word>,
    elsewhere: Option<Redis>,
    /// Tells our own words from others'.
    speaker: String,
}

/// Hears a feed.
#[derive(Debug)]
pub struct Listener(broadcast::Receiver<Word>);

impl Feed {
    /// A feed within this process, and to those that share its Redis if it has one.
    pub fn new(redis: Option<Redis>) -> Self {
        Self(Arc::new(Inner {
            here: broadcast::Sender::new(BACKLOG),
            elsewhere: redis,
            speaker: random::id(),
        }))
    }

    /// Tells every listener: in this process at once, elsewhere through Redis. Call it after the commit.
    pub async fn say(&self, word: Word) {
        self.say_here(word.clone());
        if let Some(redis) = &self.0.elsewhere
            && let Some(text) = word.to_text()
            && let Err(error) = redis
                .publish(CHANNEL, &format!("{} {text}", self.0.speaker))
                .await
        {
            tracing::warn!(%error, "the other processes were not told: they find out at their next look");
        }
    }

    /// Hears what is said from now on.
    pub fn listen(&self) -> Listener {
        Listener(self.0.here.subscribe())
    }

    /// Passes on what other processes say, for ever.
    pub async fn follow(self) {
        let Some(redis) = self.0.elsewhere.clone() else {
            return;
        };
        let mut epoch = None;
        loop {
            if let Err(error) = self.hear(&redis, &mut epoch).await {
                tracing::warn!(%error, "the feed is interrupted");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Hears one connection to its end. What was said before it began is lost, and so is what an emptied
    /// Redis or another one was told.
    async fn hear(&self, redis: &Redis, epoch: &mut Option<String>) -> Result<(), Unavailable> {
        let mut words = redis.subscribe(CHANNEL).await?.into_on_message();
        self.say_here(Word::Missed);
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                message = words.next() => match message {
                    Some(message) => self.pass_on(&String::from_utf8_lossy(message.get_payload_bytes())),
                    None => return Ok(()),
                },
                _ = look.tick() => {
                    let now = redis.epoch().await?;
                    if epoch.replace(now.clone()).is_some_and(|before| before != now) {
                        tracing::warn!("Redis was emptied or replaced: everything is read from the database anew");
                        self.say_here(Word::Missed);
                        // The words of the present one are heard by a connection to it.
                        return Ok(());
                    }
                }
            }
        }
    }

    fn pass_on(&self, text: &str) {
        if let Some((speaker, text)) = text.split_once(' ')
            && speaker != self.0.speaker
        {
            // A newer version may say what this one does not know.
            self.say_here(Word::parse(text).unwrap_or(Word::Missed));
        }
    }

    fn say_here(&self, word: Word) {
        // Nobody listening is no failure.
        let _ = self.0.here.send(word);
    }
}

impl Listener {
    /// The next word. One who was too slow hears that some were missed.
    pub async fn next(&mut self) -> Word {
        match self.0.recv().await {
            Ok(word) => word,
            Err(RecvError::Lagged(_)) => Word::Missed,
            // Without a feed there is nothing to hear, ever.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    /// A word that was said already and not heard yet.
    pub fn waiting(&mut self) -> Option<Word> {
        match self.0.try_recv() {
            Ok(word) => Some(word),
            Err(TryRecvError::Lagged(_)) => Some(Word::Missed),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// The next word of the signing keys: their set's entity tag, or `None` where words were missed.
    pub async fn next_keys(&mut self) -> Option<String> {
        loop {
            match self.next().await {
                Word::Keys(etag) => return Some(etag),
                Word::Missed => return None,
                Word::Revoked => {}
            }
        }
    }
}

impl Word {
    /// As written between processes; [`Missed`](Self::Missed) is each one's own affair.
    fn to_text(&self) -> Option<String> {
        match self {
            Self::Revoked => Some("revoked".to_owned()),
            Self::Keys(etag) => Some(format!("keys {etag}")),
            Self::Missed => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            None if text == "revoked" => Some(Self::Revoked),
            Some(("keys", etag)) => Some(Self::Keys(etag.to_owned())),
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
            let said = Word::Keys(etag);
            prop_assert_eq!(Word::parse(&said.to_text().unwrap()), Some(said));
        }

        #[test]
        fn any_text_is_a_word_or_not(text in "\\PC{0,40}") {
            let _ = Word::parse(&text);
        }
    }

    #[test]
    fn a_word_of_a_newer_version_is_one_that_was_missed() {
        let feed = Feed::new(None);
        let mut heard = feed.0.here.subscribe();
        feed.pass_on("another revoked");
        feed.pass_on("another something new");
        feed.pass_on(&format!("{} revoked", feed.0.speaker));
        assert_eq!(heard.try_recv(), Ok(Word::Revoked));
        assert_eq!(heard.try_recv(), Ok(Word::Missed));
        assert!(
            heard.try_recv().is_err(),
            "our own words were heard when they were said"
        );
    }
}
