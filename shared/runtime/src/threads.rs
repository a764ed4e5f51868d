//! The threads that serve requests.

use std::io;
use std::thread;
use storage::db;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// The threads that serve requests: the current one, which also accepts the connections and runs the background tasks,
/// and one for each further core. Each has a tokio runtime of its own, and the connections of clients are divided among
/// them, because a request that moves between threads costs a wake-up at every step.
#[derive(Debug)]
pub struct Threads {
    runtimes: Vec<Handle>,
    /// The other threads run until this is dropped.
    running: watch::Sender<()>,
}

impl Threads {
    /// Returns the current thread only. Must be called on a tokio runtime.
    pub fn current() -> Self {
        Self {
            runtimes: vec![Handle::current()],
            running: watch::Sender::new(()),
        }
    }

    /// Starts a thread for each core but one, which is that of the current thread. Must be called on a tokio runtime.
    /// Fails if a thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let mut threads = Self::current();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for number in 1..cores {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            threads.runtimes.push(runtime.handle().clone());
            let mut running = threads.running.subscribe();
            thread::Builder::new()
                .name(format!("requests-{number}"))
                .spawn(move || {
                    db::use_connections_of_thread(number);
                    // Ends with an error when the sender is dropped.
                    let _ = runtime.block_on(running.changed());
                    // Computations in progress must not delay the end of the process.
                    runtime.shutdown_background();
                })?;
        }
        Ok(threads)
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.runtimes.len()
    }

    /// Returns the runtimes of the threads in turn, without end.
    pub(crate) fn in_turn(&self) -> impl Iterator<Item = &Handle> {
        self.runtimes.iter().cycle()
    }
}
