//! Concurrent requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Barrier;

/// The number of responses per status code.
pub type StatusCounts = BTreeMap<u16, usize>;

/// Runs `n` tasks that start at the same moment. `task` takes the index of each. Returns the results by
/// index.
pub async fn run_concurrently<T, F>(n: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(n));
    let tasks: Vec<_> = (0..n)
        .map(|i| {
            let (barrier, task) = (Arc::clone(&barrier), task(i));
            tokio::spawn(async move {
                barrier.wait().await;
                task.await
            })
        })
        .collect();
    let mut outcomes = Vec::with_capacity(n);
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

/// Counts responses by status code.
pub fn status_counts<'a>(replies: impl IntoIterator<Item = &'a crate::Reply>) -> StatusCounts {
    let mut counts = StatusCounts::new();
    for reply in replies {
        *counts.entry(reply.status).or_default() += 1;
    }
    counts
}
