//! Rotations under load: no good token is refused, fresh or old.

use super::{one, rotate};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tests::{App, Caller, Shape, Tokens, World, on_every_shape};

/// How old a token becomes before it is used for the last time: older than two rotations.
const OLD: Duration = Duration::from_secs(10);
const CALLERS: usize = 3;
const ROTATIONS: usize = 10;

#[derive(Default)]
struct Counted {
    done: AtomicBool,
    calls: AtomicUsize,
    refused: AtomicUsize,
}

impl Counted {
    async fn call(&self, anyone: &Caller, token: &str) {
        let reply = anyone.bearer(token).get("/protected").await;
        self.calls.fetch_add(1, Ordering::Relaxed);
        if reply.status != 200 {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Refreshes without a pause; uses each token when it is fresh, and again when it is old.
async fn keep_calling(anyone: Caller, app: App, mut tokens: Tokens, counted: Arc<Counted>) {
    let mut held = VecDeque::from([(Instant::now(), tokens.access.clone())]);
    while !counted.done.load(Ordering::Relaxed) {
        tokens = Tokens::of(app.refresh(&anyone, &tokens.refresh).await);
        counted.call(&anyone, &tokens.access).await;
        held.push_back((Instant::now(), tokens.access.clone()));
        while let Some((_, old)) = held.pop_front_if(|(made_at, _)| made_at.elapsed() > OLD) {
            counted.call(&anyone, &old).await;
        }
    }
    for (_, old) in held {
        counted.call(&anyone, &old).await;
    }
}

async fn no_good_token_is_refused_during_ten_rotations(shape: Shape) {
    let world = World::of(shape).flag("--jwks-max-age", "2s").start().await;
    let counted = Arc::new(Counted::default());
    let mut callers = Vec::new();
    for _ in 0..CALLERS {
        let (ann, app) = world.person_and_app().await;
        let tokens = app.tokens(&ann, "posts:read").await;
        callers.push(tokio::spawn(keep_calling(
            world.anyone(),
            app,
            tokens,
            Arc::clone(&counted),
        )));
    }
    let first = one(&world, "active");
    for _ in 0..ROTATIONS {
        let staged = world.cli(&["keys", "list", "--json"], "");
        let ripe = staged.as_array().unwrap().last().unwrap()["sign_after"].clone();
        let ripe = shared::clock::Timestamp::parse(ripe.as_str().unwrap()).unwrap();
        tokio::time::sleep(ripe.since(world.now())).await;
        rotate(&world);
    }
    counted.done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    let (calls, refused) = (
        counted.calls.load(Ordering::Relaxed),
        counted.refused.load(Ordering::Relaxed),
    );
    assert!(
        calls > 100 && refused == 0,
        "{refused} of {calls} good tokens were refused"
    );
    assert_ne!(one(&world, "active"), first);
}

on_every_shape!(no_good_token_is_refused_during_ten_rotations);
