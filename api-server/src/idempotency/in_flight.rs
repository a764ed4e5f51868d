//! The writes of this process that are under way, by what they claim.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Which writes are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashMap<Vec<u8>, watch::Receiver<()>>>>);

/// Whose turn it is.
#[derive(Debug)]
pub(super) enum Entered {
    /// The caller's.
    First(Turn),
    /// Another's, who came first.
    Behind(First),
}

/// The caller's turn; it ends when dropped, however that comes about.
#[derive(Debug)]
pub(super) struct Turn {
    id: Vec<u8>,
    all: InFlight,
    /// Dropped after the entry is gone: then those behind wake.
    _end: watch::Sender<()>,
}

/// Another's turn.
#[derive(Debug)]
pub(super) struct First(watch::Receiver<()>);

impl InFlight {
    /// Begins the caller's turn, if nobody has it.
    pub(super) fn enter(&self, id: &[u8]) -> Entered {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = all.get(id) {
            return Entered::Behind(First(first.clone()));
        }
        let (end, ended) = watch::channel(());
        all.insert(id.to_owned(), ended);
        Entered::First(Turn {
            id: id.to_owned(),
            all: self.clone(),
            _end: end,
        })
    }
}

impl First {
    /// Waits until the turn has ended.
    pub(super) async fn ended(mut self) {
        // Nothing is ever sent: the error says that the sender is gone.
        let _ = self.0.changed().await;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_behind_wake_when_the_turn_ends_and_others_do_not_wait() {
        let all = InFlight::default();
        let Entered::First(turn) = all.enter(b"a") else {
            panic!("nobody was first")
        };
        let Entered::Behind(first) = all.enter(b"a") else {
            panic!("there were two first ones")
        };
        assert!(matches!(all.enter(b"b"), Entered::First(_)));
        let waiting = tokio::spawn(first.ended());
        drop(turn);
        waiting.await.unwrap();
        assert!(matches!(all.enter(b"a"), Entered::First(_)));
        assert!(all.0.lock().unwrap().is_empty());
    }
}
