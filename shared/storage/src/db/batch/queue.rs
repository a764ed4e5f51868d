//! The calls that wait for a batch.

use super::{BatchCall, Error};
use foundation::sync::lock;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use thread_local::ThreadLocal;
use tokio::sync::oneshot;

/// The largest number of calls in a batch.
pub(super) const MAX_CALLS: usize = 64;

/// The calls that no batch has taken yet. Each thread has a queue for each type of call, and the process has one for those that change a
/// contended row.
#[derive(Clone, Debug, Default)]
pub(in crate::db) struct Batches {
    threads: Arc<ThreadLocal<RefCell<WaitingByType>>>,
    process: Arc<Mutex<WaitingByType>>,
}

/// The queues of a thread or of the process. The key is the type of the call, and the value is the [`Waiting`] of that type.
type WaitingByType = HashMap<TypeId, Box<dyn Any + Send>>;

/// The queue for one type of call.
pub(super) type Waiting<C> = Arc<Mutex<Queue<C>>>;

pub(super) struct Queue<C: BatchCall> {
    pub(super) calls: Vec<(C, Caller<C>)>,
    /// The rows that a running batch of this queue changes.
    busy_rows: HashSet<i64>,
    /// Whether a task will take the calls that can run now.
    pub(super) has_task: bool,
}

impl<C: BatchCall> Default for Queue<C> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            busy_rows: HashSet::new(),
            has_task: false,
        }
    }
}

impl<C: BatchCall> Queue<C> {
    /// Takes the next batch: the calls that change no busy row, whose rows become busy.
    pub(super) fn take(&mut self) -> Vec<(C, Caller<C>)> {
        let is_free = |call: &C| {
            call.contended_row()
                .is_none_or(|row| !self.busy_rows.contains(&row))
        };
        let mut count = 0;
        let mut take = |(call, _): &mut (C, Caller<C>)| {
            let takes = count < MAX_CALLS && is_free(call);
            count += usize::from(takes);
            takes
        };
        let batch: Vec<_> = self.calls.extract_if(.., |call| take(call)).collect();
        let rows = batch.iter().filter_map(|(call, _)| call.contended_row());
        self.busy_rows.extend(rows);
        batch
    }
}
/// Sends a caller its answer. Closed if the caller no longer waits.
pub(super) type Caller<C> = oneshot::Sender<Result<<C as BatchCall>::Answer, Error>>;

impl Batches {
    /// Returns the queue for this call.
    pub(super) fn queue_for<C: BatchCall>(&self, call: &C) -> Waiting<C> {
        match call.contended_row() {
            Some(_) => queue_in(&mut lock(&self.process)),
            None => queue_in(&mut self.threads.get_or_default().borrow_mut()),
        }
    }
}

fn queue_in<C: BatchCall>(by_type: &mut WaitingByType) -> Waiting<C> {
    let waiting = by_type
        .entry(TypeId::of::<C>())
        .or_insert_with(|| Box::new(Waiting::<C>::default()));
    let waiting: Option<&Waiting<C>> = waiting.downcast_ref();
    waiting.cloned().unwrap_or_default()
}

/// The busy rows of a batch, which dropping frees.
pub(super) struct BusyRows<C: BatchCall> {
    pub(super) waiting: Waiting<C>,
    pub(super) rows: Vec<i64>,
}

impl<C: BatchCall> Drop for BusyRows<C> {
    fn drop(&mut self) {
        let mut queue = lock(&self.waiting);
        for row in &self.rows {
            queue.busy_rows.remove(row);
        }
    }
}
