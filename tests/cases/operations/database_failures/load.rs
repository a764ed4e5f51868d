//! Continuous requests of readers and writers, and their outcomes.

use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tests::{Call, Caller, Reply, World, eventually, print_figure};
use tokio::task::JoinHandle;

/// The tasks that send each kind of request, one at a time each.
const TASKS_PER_KIND: usize = 4;

/// The number of successes in a row after which a task sees normal service.
const RECOVERED: usize = 5;

/// The kinds of requests. Each needs the database.
const KINDS: [fn(&Callers) -> Call; 4] = [
    |callers| callers.anyone.get(&callers.post),
    |callers| callers.bearer.get("/posts"),
    |callers| callers.session.get("/me"),
    |callers| callers.bearer.post("/posts").json(&json!({ "title": "A post" })),
];

struct Callers {
    anyone: Caller,
    bearer: Caller,
    session: Caller,
    post: String,
}

/// A request with its response.
#[derive(Debug)]
pub(super) struct Response {
    task: usize,
    sent: Instant,
    received: Instant,
    /// `None` if the connection ended without a response.
    reply: Option<Reply>,
}

/// Tasks that send requests until they are stopped.
pub(super) struct Load {
    tasks: Vec<JoinHandle<()>>,
    is_stopped: Arc<AtomicBool>,
    responses: Arc<Mutex<Vec<Response>>>,
}

/// All responses to a load.
pub(super) struct Responses(Vec<Response>);

impl Load {
    /// Starts the tasks, spread over the API processes.
    pub(super) async fn start(world: &World) -> Self {
        let (ann, app) = world.user_and_app().await;
        let token = app.tokens(&ann, "posts:read posts:write").await.access;
        let post = ann.publish("A post").await.path;
        // Without the reverse proxy, which answers for a process that has ended.
        let apis = world.at_each_api(&world.anyone()).into_iter();
        let callers = apis.map(|anyone| {
            Arc::new(Callers {
                bearer: anyone.bearer(&token),
                session: ann.at(anyone.base()),
                anyone,
                post: post.clone(),
            })
        });
        let callers: Vec<_> = callers.collect();
        let (is_stopped, responses) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<_>>>::default());
        let kinds = KINDS.iter().cycle().take(KINDS.len() * TASKS_PER_KIND);
        let tasks = kinds.enumerate().map(|(task, kind)| {
            let callers = Arc::clone(&callers[task / KINDS.len() % callers.len()]);
            let is_stopped = Arc::clone(&is_stopped);
            let responses = Arc::clone(&responses);
            tokio::spawn(async move {
                while !is_stopped.load(Ordering::Relaxed) {
                    let sent = Instant::now();
                    let reply = kind(&callers).attempt().await;
                    responses.lock().unwrap().push(Response {
                        task,
                        sent,
                        received: Instant::now(),
                        reply,
                    });
                }
            })
        });
        Self {
            tasks: tasks.collect(),
            is_stopped,
            responses,
        }
    }

    /// Waits until each task has received `n` responses to requests that it sent after `since`.
    pub(super) async fn wait_for_responses(&self, since: Instant, n: usize) {
        eventually("requests are not answered", || async {
            let responses = self.responses.lock().unwrap();
            (0..self.tasks.len()).all(|task| {
                let of_task = responses
                    .iter()
                    .filter(|one| one.task == task && one.sent > since);
                of_task.count() >= n
            })
        })
        .await;
    }

    /// Waits until five requests in a row of each task, all sent from now on, have succeeded. Prints how long
    /// that took, and returns the end.
    pub(super) async fn wait_for_recovery(&self) -> Instant {
        let began = Instant::now();
        eventually("requests fail after the end of the failure", || async {
            let responses = self.responses.lock().unwrap();
            (0..self.tasks.len()).all(|task| {
                let of_task = responses.iter().rev();
                let mut latest = of_task
                    .filter(|one| one.task == task && one.sent > began)
                    .take(RECOVERED);
                latest.clone().count() == RECOVERED
                    && latest.all(|one| one.reply.as_ref().is_some_and(is_success))
            })
        })
        .await;
        print_figure(&format!(
            "normal service {:?} after the end of the failure",
            began.elapsed()
        ));
        Instant::now()
    }

    /// Stops the tasks after their current requests. Returns all responses.
    pub(super) async fn stop(self) -> Responses {
        self.is_stopped.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        Responses(std::mem::take(&mut *self.responses.lock().unwrap()))
    }
}

impl Responses {
    /// Expects that every response arrived within this time.
    pub(super) fn expect_within(&self, limit: Duration) {
        let late = self.0.iter().filter(|one| one.received - one.sent > limit);
        report("received late", &late.collect::<Vec<_>>());
    }

    /// Expects a condition of all responses to requests that were sent after `from` and whose responses were
    /// received before `to`. There must be such responses.
    pub(super) fn expect_between(
        &self,
        period: &str,
        from: Option<Instant>,
        to: Option<Instant>,
        condition: impl Fn(&Reply) -> bool,
    ) {
        let is_in_period = |sent: Instant, received: Instant| {
            from.is_none_or(|from| sent > from) && to.is_none_or(|to| received < to)
        };
        self.expect_all(period, is_in_period, condition);
    }

    /// Expects a condition of all responses in a period, which takes the times of the request and of the
    /// response.
    pub(super) fn expect_all(
        &self,
        period: &str,
        is_in_period: impl Fn(Instant, Instant) -> bool,
        condition: impl Fn(&Reply) -> bool,
    ) {
        let in_period = self.0.iter().filter(|one| is_in_period(one.sent, one.received));
        let in_period: Vec<_> = in_period.collect();
        assert!(!in_period.is_empty(), "no requests {period}");
        let unexpected = in_period
            .into_iter()
            .filter(|one| !one.reply.as_ref().is_some_and(&condition));
        report(&format!("unexpected {period}"), &unexpected.collect::<Vec<_>>());
    }
}

/// Fails the test if there are any such responses.
fn report(what: &str, found: &[&Response]) {
    let Some(first) = found.first() else { return };
    let reply = match &first.reply {
        Some(reply) => reply.to_string(),
        None => "no response".to_owned(),
    };
    let duration = first.received - first.sent;
    panic!(
        "{} responses {what}, the first after {duration:?}: {reply}",
        found.len()
    );
}

/// Whether it is a success.
pub(super) fn is_success(reply: &Reply) -> bool {
    matches!(reply.status, 200 | 201)
}

/// Whether it is a 503 that tells the client when to retry.
pub(super) fn is_refusal(reply: &Reply) -> bool {
    reply.status == 503 && reply.has("retry-after")
}

/// Whether it is one of both.
pub(super) fn is_success_or_refusal(reply: &Reply) -> bool {
    is_success(reply) || is_refusal(reply)
}
