//! The threads that serve requests.

use std::sync::mpsc;
use std::{io, thread};
use storage::db;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;

/// The threads that serve requests: the current one, which also accepts the connections and runs the
/// background tasks, and one for each further core. Each has a tokio runtime of its own, and the connections
/// of clients are divided among them, because a request that moves between threads costs a wake-up at every
/// step.
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

    /// Starts a thread for each core but one, which is that of the current thread. Must be called on a tokio
    /// runtime. Fails if a thread cannot be started.
    pub fn start() -> io::Result<Self> {
        let mut threads = Self::current();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for number in 1..cores {
            let (started, runtime) = mpsc::channel();
            let mut running = threads.running.subscribe();
            let work = move || {
                db::use_connections_of_thread(number);
                let runtime = Builder::new_current_thread().enable_all().build();
                // The receiver waits for this.
                let _ = started.send(
                    runtime
                        .as_ref()
                        .map(|runtime| runtime.handle().clone())
                        .map_err(io::Error::kind),
                );
                if let Ok(runtime) = runtime {
                    // Ends with an error when the sender is dropped.
                    let _ = runtime.block_on(running.changed());
                }
            };
            thread::Builder::new()
                .name(format!("requests-{number}"))
                .spawn(work)?;
            let runtime = runtime.recv().map_err(io::Error::other)?;
            threads.runtimes.push(runtime?);
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
