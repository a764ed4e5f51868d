//! Rotations under load: no valid token is rejected, fresh or old.

use super::{key_in_state, rotate};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tests::{App, Caller, Shape, Tokens, World, on_every_shape};

/// The minimum age of a token at its second use, longer than two rotations.
const AGE_AT_SECOND_USE: Duration = Duration::from_secs(10);
const CALLERS: usize = 3;
const ROTATIONS: usize = 10;

#[derive(Default)]
struct CallCounts {
    done: AtomicBool,
    calls: AtomicUsize,
    rejected: AtomicUsize,
}

impl CallCounts {
    async fn call(&self, anyone: &Caller, token: &str) {
        let reply = anyone.bearer(token).get("/protected").await;
        self.calls.fetch_add(1, Ordering::Relaxed);
        if reply.status != 200 {
            self.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Refreshes continuously. Uses each access token when it is fresh, and again when it is old.
async fn keep_calling(anyone: Caller, app: App, mut tokens: Tokens, counts: Arc<CallCounts>) {
    let mut held = VecDeque::from([(Instant::now(), tokens.access.clone())]);
    while !counts.done.load(Ordering::Relaxed) {
        tokens = Tokens::parse(app.refresh(&anyone, &tokens.refresh).await);
        counts.call(&anyone, &tokens.access).await;
        held.push_back((Instant::now(), tokens.access.clone()));
        while let Some((_, old)) = held.pop_front_if(|(made_at, _)| made_at.elapsed() > AGE_AT_SECOND_USE) {
            counts.call(&anyone, &old).await;
        }
    }
    for (_, old) in held {
        counts.call(&anyone, &old).await;
    }
}

async fn valid_tokens_are_accepted_during_ten_rotations(shape: Shape) {
    let world = World::builder(shape).flag("--jwks-max-age", "2s").start().await;
    let counts = Arc::new(CallCounts::default());
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        let (ann, app) = world.user_and_app().await;
        let tokens = app.tokens(&ann, "posts:read").await;
        callers.push(tokio::spawn(keep_calling(
            world.anyone(),
            app,
            tokens,
            Arc::clone(&counts),
        )));
    }
    let first = key_in_state(&world, "active");
    for _ in 0..ROTATIONS {
        let staged = world.cli(&["keys", "list", "--json"], "");
        let sign_after = staged.as_array().unwrap().last().unwrap()["sign_after"].clone();
        let sign_after = foundation::clock::Timestamp::parse(sign_after.as_str().unwrap()).unwrap();
        tokio::time::sleep(sign_after.since(world.now())).await;
        rotate(&world);
    }
    counts.done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    let (calls, rejected) = (
        counts.calls.load(Ordering::Relaxed),
        counts.rejected.load(Ordering::Relaxed),
    );
    assert!(
        calls > 100 && rejected == 0,
        "{rejected} of {calls} valid tokens were rejected"
    );
    assert_ne!(key_in_state(&world, "active"), first);
}

on_every_shape!(valid_tokens_are_accepted_during_ten_rotations);
