//! The feed: a word to every process that something in the database changed, so that none waits for its
//! next look. The database has the facts: a word that is lost costs time and nothing else.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Words that a slow listener may be behind. One that missed some hears so, and looks for itself.
const BACKLOG: usize = 64;

/// What is to be looked at anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The revocations.
    Revoked,
    /// The signing keys: the published set now has this entity tag.
    Keys(String),
}

/// Says words and hears them. Cheap to clone; the clones share one feed.
#[derive(Clone, Debug)]
pub struct Feed {
    here: broadcast::Sender<Word>,
}

impl Feed {
    /// A feed within this process.
    pub fn local() -> Self {
        Self {
            here: broadcast::Sender::new(BACKLOG),
        }
    }

    /// Tells every listener, in this process at once. Call it after the commit.
    pub async fn say(&self, word: Word) {
        // Nobody listening is no failure.
        let _ = self.here.send(word);
    }

    /// Hears what is said from now on.
    pub fn listen(&self) -> broadcast::Receiver<Word> {
        self.here.subscribe()
    }
}

/// Waits for the next word of the signing keys: their set's entity tag, or `None` where words were missed.
pub async fn next_keys(words: &mut broadcast::Receiver<Word>) -> Option<String> {
    loop {
        match words.recv().await {
            Ok(Word::Keys(etag)) => return Some(etag),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return None,
            // Nobody is left to say anything.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
