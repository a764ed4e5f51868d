//! The time from a revocation to its effect at every API, and what a process needs for very many revocations.

use crate::ALONE;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{Caller, Shape, World, median, on_many_processes, on_shapes, p99, peak_memory_kib, print_figure};

/// The longest time for 99 of 100 revocations.
const LIMIT: Duration = Duration::from_secs(1);
const REVOCATIONS: usize = 1_000;

async fn revocations_reach_every_api_within_a_second(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::builder(shape).start().await;
    let (ann, app) = (world.sign_up().await, world.app().first_party().register());
    let (anyone, mut browser) = (world.anyone(), ann.browser());
    let mut times = Vec::new();
    for _ in 0..REVOCATIONS {
        let grant = app.authorize(&mut browser, &ann, "posts:read").await;
        let tokens = tests::Tokens::parse(app.exchange(&anyone, &grant).await);
        let apis = world.at_each_api(&anyone.bearer(&tokens.access));
        for api in &apis {
            api.get("/protected").await.expect(200);
        }
        let revocation = app.client_call(&anyone, "/revoke", &[("token", &tokens.refresh)]);
        revocation.await.expect(200);
        let began = Instant::now();
        for api in &apis {
            while api.get("/protected").await.status == 200 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        times.push(began.elapsed());
    }
    let (p50, p99, max) = (median(&times), p99(&times), times.iter().max().unwrap());
    print_figure(&format!(
        "from revocation to rejection by both APIs, {REVOCATIONS} tokens: p50 {p50:?}, p99 {p99:?}, max {max:?}"
    ));
    assert!(p99 < LIMIT, "p99 {p99:?}");
}

/// The number of revocations of which `docs/operate/from-one-process-to-many.md` says what a process needs.
const VERY_MANY: i64 = 5_000_000;
/// The number of rows that the test inserts in one transaction.
const PART: i64 = 500_000;
/// The longest time in which a process reads all of them.
const LIMIT_OF_ALL: Duration = Duration::from_secs(300);

/// Waits until the API accepts the token. Returns the time that it took.
async fn until_accepted(caller: &Caller) -> Duration {
    let began = Instant::now();
    while caller.get("/protected").may_fail().await.status != 200 {
        assert!(began.elapsed() < LIMIT_OF_ALL, "the revocations are not read");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    began.elapsed()
}

/// Prints the memory and the times. They are those of the profile of the tests; a release is faster.
async fn a_process_holds_five_million_revocations(shape: Shape) {
    let _alone = ALONE.lock().await;
    let mut world = World::builder(shape).start().await;
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    let revoked = app.tokens(&user, "posts:read").await;
    let revocation = app.client_call(&world.anyone(), "/revoke", &[("token", &revoked.access)]);
    revocation.await.expect(200);
    let without = peak_memory_kib(world.pids()[0]).unwrap();
    world.stop().await;
    let db = world.db().await;
    let insert = "INSERT INTO revocations (kind, subject, revoked_at, expires_at)
                  WITH RECURSIVE numbers (n) AS (SELECT $1 + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
                  SELECT 'jti', 'a-jti-of-22-c-' || n, $3, $4 FROM numbers";
    let (now, expires_at) = (world.now(), world.now().after(12 * LIMIT_OF_ALL));
    for part in 0..VERY_MANY / PART {
        let (from, to) = (part * PART, (part + 1) * PART);
        execute!(db.writer(), insert, from, to, now, expires_at).unwrap();
    }
    world.restart().await;
    let caller = world.anyone().bearer(&tokens.access);
    let at_start = until_accepted(&caller).await;
    let with = peak_memory_kib(world.pids()[0]).unwrap();
    world.expect_revoked(&revoked.access).await;
    execute!(db.writer(), "ALTER TABLE revocations RENAME TO away").unwrap();
    while caller.get("/protected").may_fail().await.status == 200 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    execute!(db.writer(), "ALTER TABLE away RENAME TO revocations").unwrap();
    let after_failure = until_accepted(&caller).await;
    let again = peak_memory_kib(world.pids()[0]).unwrap();
    world.expect_revoked(&revoked.access).await;
    print_figure(&format!(
        "{VERY_MANY} revocations on {shape:?}: read in {at_start:?} at the start and in {after_failure:?} after a failed read; \
         peak memory {without} KiB without them, {with} KiB after the start, {again} KiB after the failed read"
    ));
}

on_many_processes!(revocations_reach_every_api_within_a_second);
on_shapes!(a_process_holds_five_million_revocations: sqlite Sqlite, postgres Postgres);
