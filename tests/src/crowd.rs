//! Many at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Barrier;

/// How often each outcome came.
pub type Counts = BTreeMap<u16, usize>;

/// Runs `n` tasks that wait for each other before they begin, and gives what each came to.
pub async fn all_at_once<T, F>(n: usize, task: impl Fn(usize) -> F) -> Vec<T>
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

/// Counts status codes.
pub fn counts<'a>(replies: impl IntoIterator<Item = &'a crate::Reply>) -> Counts {
    let mut counts = Counts::new();
    for reply in replies {
        *counts.entry(reply.status).or_default() += 1;
    }
    counts
}
