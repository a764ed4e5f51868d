//! The calls that wait for a batch.

use crate::db::{Db, Error};
use foundation::sync::lock;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use thread_local::ThreadLocal;
use tokio::sync::oneshot;

/// The largest number of calls in a batch.
pub(super) const MAX_CALLS: usize = 64;

/// A call that can share its statement with other calls of this type.
pub trait BatchCall: Sized + Send + Sync + 'static {
    /// The result of one call.
    type Answer: Send + 'static;

    /// The row that this call and calls of other requests change, if there is one. Calls of a process that
    /// change the same row do not wait for each other in the database: those that arrive while one of them
    /// runs are in the next batch.
    fn contended_row(&self) -> Option<i64> {
        None
    }

    /// Runs the calls. On PostgreSQL it is one statement, so that either all of them take effect or none. Its
    /// parameters are an [`Array`](crate::db::Array) for each value of a call. Returns the answers in the
    /// order of the calls.
    fn run(db: &Db, calls: &[Self]) -> impl Future<Output = Result<Vec<Self::Answer>, Error>> + Send;
}

/// The calls that no batch has taken yet. Each thread has a queue for each type of call, and the process has
/// one for those that change a contended row.
#[derive(Clone, Debug, Default)]
pub(in crate::db) struct Batches {
    of_threads: Arc<ThreadLocal<RefCell<WaitingByType>>>,
    of_process: Arc<Mutex<WaitingByType>>,
}

/// The queues of a thread or of the process. The key is the type of the call, and the value is the
/// [`Waiting`] of that type.
type WaitingByType = HashMap<TypeId, Box<dyn Any + Send>>;

/// The queue for one type of call.
pub(super) type Waiting<C> = Arc<Mutex<Queue<C>>>;

pub(super) struct Queue<C: BatchCall> {
    pub(super) calls: Vec<(C, Caller<C>)>,
    /// The rows that a running batch of this queue changes.
    pub(super) busy_rows: HashSet<i64>,
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
    /// Takes the next batch, whose rows become busy. Several calls that change one row are a batch of their
    /// own, so that no call of another row waits for it.
    pub(super) fn take(&mut self) -> Vec<(C, Caller<C>)> {
        let Some(first) = self.calls.iter().find(|(call, _)| self.is_free(call)) else {
            return Vec::new();
        };
        let Some(row) = first.0.contended_row() else {
            let count = self.calls.len().min(MAX_CALLS);
            return self.calls.drain(..count).collect();
        };
        let mut waiting: HashMap<i64, usize> = HashMap::new();
        for row in self.calls.iter().filter_map(|(call, _)| call.contended_row()) {
            *waiting.entry(row).or_default() += 1;
        }
        let is_alone = |row: i64| waiting.get(&row) == Some(&1) && !self.busy_rows.contains(&row);
        let has_many = !is_alone(row);
        let mut count = 0;
        let mut batch = Vec::new();
        let mut rest = Vec::new();
        for (call, caller) in self.calls.drain(..) {
            let belongs = call.contended_row().is_some_and(|of_call| match has_many {
                true => of_call == row,
                false => is_alone(of_call),
            });
            if belongs && count < MAX_CALLS {
                count += 1;
                batch.push((call, caller));
            } else {
                rest.push((call, caller));
            }
        }
        self.busy_rows
            .extend(batch.iter().filter_map(|(call, _)| call.contended_row()));
        self.calls = rest;
        batch
    }

    /// Returns whether a call waits that can run now.
    pub(super) fn has_free_call(&self) -> bool {
        self.calls.iter().any(|(call, _)| self.is_free(call))
    }

    fn is_free(&self, call: &C) -> bool {
        call.contended_row()
            .is_none_or(|row| !self.busy_rows.contains(&row))
    }
}

/// Sends a caller its answer. Closed if the caller no longer waits.
pub(super) type Caller<C> = oneshot::Sender<Result<<C as BatchCall>::Answer, Error>>;

impl Batches {
    /// Returns the queue for this call.
    pub(super) fn queue_for<C: BatchCall>(&self, call: &C) -> Waiting<C> {
        match call.contended_row() {
            Some(_) => queue_in(&mut lock(&self.of_process)),
            None => queue_in(&mut self.of_threads.get_or_default().borrow_mut()),
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
