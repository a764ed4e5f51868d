//! The threads that hash passwords. They have a low priority, so that a flood of sign-ins leaves most of the
//! processor time to other requests.

use argon2::Block;
use foundation::sync::lock;
use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The time after which a thread without work ends and returns its memory to the system.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);
/// The least capacity of a buffer, in blocks of 1 KiB. Above 32 MiB, glibc gives a freed buffer back to the
/// system at once; it would keep a smaller one. Blocks that no hash uses take no memory.
const BUFFER_CAPACITY: usize = 33 * 1024;
/// The name of the threads.
const NAME: &str = "password-hash";
/// The nice value of the threads: about a third of the weight of the threads that serve requests. With the
/// highest value, sign-ins would time out while other requests use all processors.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// A computation that borrows the thread's buffer.
pub(super) type Work = Box<dyn FnOnce(&mut Vec<Block>) + Send>;

/// Starts threads as they are needed. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct HashingThreads {
    idle: Arc<Mutex<Vec<IdleThread>>>,
}

/// A thread that waits for its next job.
#[derive(Debug)]
struct IdleThread {
    id: ThreadId,
    jobs: SyncSender<Job>,
}

struct Job {
    work: Work,
    /// Released when the thread is idle again, so that there are no more threads than permits.
    permit: OwnedSemaphorePermit,
}

impl HashingThreads {
    /// Runs `work` on the thread that was used last, or on a new one if none is idle. Fails if no thread can
    /// be started.
    pub(super) fn run(&self, work: Work, permit: OwnedSemaphorePermit) -> io::Result<()> {
        let idle = lock(&self.idle).pop();
        let thread = idle.map_or_else(|| self.start(), Ok)?;
        let job = Job { work, permit };
        thread
            .jobs
            .send(job)
            .map_err(|_| io::Error::other("the hashing thread has ended"))
    }

    fn start(&self) -> io::Result<IdleThread> {
        // One job at most, because a thread that has one is not idle.
        let (jobs, received) = mpsc::sync_channel(1);
        let (threads, own_jobs) = (self.clone(), jobs.clone());
        let started = thread::Builder::new()
            .name(NAME.to_owned())
            .spawn(move || threads.work(&own_jobs, &received))?;
        let id = started.thread().id();
        Ok(IdleThread { id, jobs })
    }

    /// Works until there is no job for [`IDLE_TIMEOUT`].
    fn work(&self, own_jobs: &SyncSender<Job>, received: &Receiver<Job>) {
        lower_priority();
        let id = thread::current().id();
        let mut memory = Vec::with_capacity(BUFFER_CAPACITY);
        loop {
            if let Ok(Job { work, permit }) = received.recv_timeout(IDLE_TIMEOUT) {
                work(&mut memory);
                let jobs = own_jobs.clone();
                lock(&self.idle).push(IdleThread { id, jobs });
                drop(permit);
            } else if self.remove_idle(id) {
                return;
            }
        }
    }

    /// Returns whether the thread was idle. If not, it is about to receive a job.
    fn remove_idle(&self, id: ThreadId) -> bool {
        let mut idle = lock(&self.idle);
        let index = idle.iter().position(|thread| thread.id == id);
        index.map(|index| idle.remove(index)).is_some()
    }

    #[cfg(test)]
    pub(super) fn idle_count(&self) -> usize {
        lock(&self.idle).len()
    }
}

/// Lowers the priority of the current thread. Has no effect if the system forbids it.
#[cfg(target_os = "linux")]
fn lower_priority() {
    // On Linux the process id 0 means the calling thread.
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "the priority of the hashing thread was not lowered");
    }
}

/// Does nothing, because POSIX has no nice value of a single thread.
#[cfg(not(target_os = "linux"))]
fn lower_priority() {}
