//! The writes with an idempotency key that this process is executing.

use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The running writes by the id of their claim. Clones share one map.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashMap<Vec<u8>, watch::Receiver<()>>>>);

/// The registration of the caller's write. Dropping it ends the registration and wakes the calls that wait
/// for it.
#[derive(Debug)]
pub(super) struct InFlightGuard {
    id: Vec<u8>,
    in_flight: InFlight,
    /// Wakes the waiting calls when it is dropped. That is after `Drop::drop` has removed the map entry, so
    /// they find the entry gone.
    _finished: watch::Sender<()>,
}

/// A write that another call is executing.
#[derive(Debug)]
pub(super) struct RunningWrite(watch::Receiver<()>);

impl InFlight {
    /// Registers the write with this id, which the caller may then execute. Fails with the write of another
    /// call that is registered already.
    pub(super) fn register(&self, id: &[u8]) -> Result<InFlightGuard, RunningWrite> {
        let mut running = lock(&self.0);
        if let Some(finished) = running.get(id) {
            return Err(RunningWrite(finished.clone()));
        }
        let (sender, finished) = watch::channel(());
        running.insert(id.to_owned(), finished);
        Ok(InFlightGuard {
            id: id.to_owned(),
            in_flight: self.clone(),
            _finished: sender,
        })
    }
}

impl RunningWrite {
    /// Waits until the write has ended, whether it succeeded or not.
    pub(super) async fn finished(mut self) {
        // Nothing is ever sent: `changed` returns an error once the sender is dropped.
        let _ = self.0.changed().await;
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut running = lock(&self.in_flight.0);
        running.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_with_the_same_id_wait_and_others_do_not() {
        let in_flight = InFlight::default();
        let guard = in_flight.register(b"a").unwrap();
        let running = in_flight.register(b"a").unwrap_err();
        assert!(in_flight.register(b"b").is_ok());
        let waiting = tokio::spawn(running.finished());
        drop(guard);
        waiting.await.unwrap();
        assert!(in_flight.register(b"a").is_ok());
        assert!(in_flight.0.lock().unwrap().is_empty());
    }
}
