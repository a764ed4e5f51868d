//! Work that waits until a state machine asks for its result.

use std::pin::Pin;
use std::sync::Mutex;

/// A future that runs at most once. The state machines require endpoints to be `Sync`, which futures are not;
/// the mutex makes it so and is never locked.
pub(super) struct Deferred<'a, T>(Mutex<Option<BoxFuture<'a, T>>>);

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl<'a, T> Deferred<'a, T> {
    /// Wraps a future without running it.
    pub(super) fn new(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self(Mutex::new(Some(Box::pin(future))))
    }

    /// Runs the future. Fails if it ran before.
    pub(super) async fn run(&mut self) -> Result<T, ()> {
        let future = self.0.get_mut().map_err(|_| ())?.take();
        Ok(future.ok_or(())?.await)
    }
}
