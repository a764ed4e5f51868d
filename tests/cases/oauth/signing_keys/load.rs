//! Rotations under load: no valid token is rejected, fresh or old.

use super::{key_in_state, rotate};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tests::{App, Caller, Shape, Tokens, User, World, eventually, on_every_shape, on_many_processes, rounds};

/// The minimum age of a token at its second use, longer than two rotations.
const AGE_AT_SECOND_USE: Duration = Duration::from_secs(5);
const CALLERS: usize = 3;
/// The number of rotations.
fn rotations() -> usize {
    rounds(3, 10)
}
/// The pause between two rounds of a caller, which leaves the processor to other tests of the gate.
fn pause() -> Duration {
    rounds(Duration::from_millis(20), Duration::ZERO)
}
/// The time between two revocations.
const SECOND: Duration = Duration::from_secs(1);

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
        tokio::time::sleep(pause()).await;
    }
    for (_, old) in held {
        counts.call(&anyone, &old).await;
    }
}

/// Rotates several times while callers refresh and use their tokens, none of which may be rejected.
async fn expect_no_rejection_during_rotations(world: &World) {
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
    let first = key_in_state(world, "active");
    for _ in 0..rotations() {
        let staged = world.cli(&["keys", "list", "--json"], "");
        let sign_after = staged.as_array().unwrap().last().unwrap()["sign_after"].clone();
        let sign_after = foundation::clock::Timestamp::parse(sign_after.as_str().unwrap()).unwrap();
        tokio::time::sleep(sign_after.since(world.now())).await;
        rotate(world);
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
        calls > 10 && rejected == 0,
        "{rejected} of {calls} valid tokens were rejected"
    );
    assert_ne!(key_in_state(world, "active"), first);
}

/// The processes of a deployment in which some issuers have a wrong clock.
struct Processes {
    issuers: Vec<Caller>,
    wrong_issuers: Vec<Caller>,
    apis: Vec<Caller>,
}

impl Processes {
    /// Begins a family, sends a used refresh token and the unused one of it to the issuers with a wrong
    /// clock, which refuse both, and uses the latter. Then revokes the family, and expects that each API
    /// obeys.
    async fn revoke_one(&self, user: &User, app: &App, issuer: &Caller) {
        let used = app.tokens(user, "posts:read").await;
        let unused = Tokens::parse(app.refresh(issuer, &used.refresh).await);
        for replica in &self.wrong_issuers {
            for refresh_token in [&used.refresh, &unused.refresh] {
                let refused = app.refresh(replica, refresh_token).may_fail().await;
                refused.expect_error(503, "dependency_unavailable");
            }
        }
        let last = Tokens::parse(app.refresh(issuer, &unused.refresh).await);
        let revocation = app.client_call(issuer, "/revoke", &[("token", &last.refresh)]);
        revocation.await.expect(200);
        for api in &self.apis {
            let api = api.bearer(&last.access);
            eventually("a revoked token is accepted", async || {
                api.get("/protected").await.status != 200
            })
            .await;
            api.get("/protected").await.expect_error(401, "invalid_token");
        }
    }

    /// Revokes a family about every second, until `done`. Returns the number of families.
    async fn keep_revoking(self, user: User, app: App, done: Arc<AtomicBool>) -> usize {
        let (mut pace, mut revoked) = (tokio::time::interval(SECOND), 0);
        while !done.load(Ordering::Relaxed) {
            pace.tick().await;
            let issuer = &self.issuers[revoked % self.issuers.len()];
            self.revoke_one(&user, &app, issuer).await;
            revoked += 1;
        }
        revoked
    }
}

async fn start(shape: Shape) -> World {
    World::builder(shape).flag("--jwks-max-age", "2s").start().await
}

async fn valid_tokens_are_accepted_during_rotations(shape: Shape) {
    expect_no_rejection_during_rotations(&start(shape).await).await;
}

/// Three more issuers, whose clocks are wrong, sign nothing, use up no token, and delete no key, session or
/// revocation early.
async fn wrong_clocks_of_other_issuers_end_nothing_early(shape: Shape) {
    let world = start(shape).await;
    let (ann, app) = world.user_and_app().await;
    let kept = app.tokens(&ann, "posts:read").await;
    let revoked = app.tokens(&ann, "posts:read").await;
    let revocation = app.client_call(&world.anyone(), "/revoke", &[("token", &revoked.access)]);
    revocation.await.expect(200);
    let wrong = [
        world.start_issuer_with_clock("-1h").await,
        world.start_issuer_with_clock("+12m").await,
        world.start_issuer_with_clock("+1h").await,
    ];
    let wrong_issuers: Vec<Caller> = wrong.iter().map(|(url, _)| world.anyone().at(url)).collect();
    let processes = Processes {
        issuers: world.at_each_issuer(&world.anyone()),
        wrong_issuers: wrong_issuers.clone(),
        apis: world.at_each_api(&world.anyone()),
    };
    let done = Arc::new(AtomicBool::new(false));
    let (user, other_app) = world.user_and_app().await;
    let revoking = tokio::spawn(processes.keep_revoking(user, other_app, Arc::clone(&done)));
    expect_no_rejection_during_rotations(&world).await;
    done.store(true, Ordering::Relaxed);
    let families = revoking.await.unwrap();
    assert!(families > 0, "no family was revoked");
    for replica in &wrong_issuers {
        let readiness = replica.get("/readyz").may_fail().await;
        assert_eq!(readiness.expect(503).json()["checks"]["clock"], "unavailable");
        let refresh = app.refresh(replica, &kept.refresh).may_fail().await;
        assert_eq!(refresh.header("retry-after"), "1");
        refresh.expect_error(503, "dependency_unavailable");
    }
    ann.get("/me").await.expect(200);
    world.expect_accepted(&kept.access).await;
    world.expect_revoked(&revoked.access).await;
    Tokens::parse(app.refresh(&world.anyone(), &kept.refresh).await);
}

on_every_shape!(valid_tokens_are_accepted_during_rotations);
on_many_processes!(wrong_clocks_of_other_issuers_end_nothing_early);
