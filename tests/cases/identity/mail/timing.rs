//! How long an answer takes tells nobody whether an account exists: five hundred known and as many unknown e-mails,
//! in random order, and the rank test of Mann and Whitney on the times.
//!
//! Two equal things differ by chance with p < 0.01 once in a hundred samples. So a sample that differs is drawn
//! anew, twice: chance alone fails a test once in a million runs, while a gap that is there fails every sample.

use super::{ask_reset, log_in};
use shared::clock::Timestamp;
use shared::execute;
use shared::identity::passwords::{Passwords, Policy};
use std::time::{Duration, Instant};
use tests::{Call, Caller, Shape, World, median, on_every_shape, rank_test};

/// E-mails of each kind.
const EACH: usize = 500;
const SAMPLES: usize = 3;
const NOISE: f64 = 0.01;
/// A gap of medians that no network lets through. On a busy machine the ranks of a thousand times tell less than that
/// apart: what one more row in a cache costs.
const SEEN_BY_NOBODY: Duration = Duration::from_micros(200);

fn known(sample: usize, n: usize) -> String {
    format!("known-{sample}-{n:03}@example.org")
}

fn unknown(sample: usize, n: usize) -> String {
    format!("nobod-{sample}-{n:03}@example.org")
}

/// Makes the accounts of all samples past the program, which would take minutes; their passwords cost what the
/// program's do.
async fn make_known(world: &World) {
    let policy = Policy {
        memory_kib: 19_456,
        passes: 2,
        permits: 1,
        min_length: 8,
    };
    let passwords = Passwords::new(policy).unwrap();
    let password = passwords.choose("the password of them all").unwrap();
    let hash = passwords.hash(password).await.unwrap();
    let insert = "INSERT INTO users (email, email_key, email_verified, role, password_hash, password_version,
                                     password_change_required, created_at, updated_at)
                  VALUES ($1, $1, TRUE, 'user', $2, 1, FALSE, $3, $3)";
    let now: Timestamp = world.now();
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    for sample in 0..SAMPLES {
        for n in 0..EACH {
            execute!(tx.on(), insert, known(sample, n), hash.as_str(), now).unwrap();
        }
    }
    tx.commit().await.unwrap();
}

/// The numbers below `n` in random order.
fn shuffled(n: usize) -> Vec<usize> {
    let mut numbers: Vec<([u8; 8], usize)> = (0..n).map(|i| (shared::random::bytes(), i)).collect();
    numbers.sort();
    numbers.into_iter().map(|(_, i)| i).collect()
}

/// Calls for every e-mail of the samples until one shows no gap. Every answer is the same to the letter.
async fn expect_no_gap(world: &World, status: u16, call: impl Fn(&Caller, &str) -> Call) {
    make_known(world).await;
    let anyone = world.anyone();
    let mut ps = Vec::new();
    let mut first = None;
    for sample in 0..SAMPLES {
        let (mut of_known, mut of_unknown) = (Vec::new(), Vec::new());
        for i in shuffled(2 * EACH) {
            // From addresses of their own, so that no throttle counts them together.
            let caller = anyone.with("x-forwarded-for", &format!("10.{sample}.{}.{}", i / 256, i % 256));
            let (times, email) = match i % 2 {
                0 => (&mut of_known, known(sample, i / 2)),
                _ => (&mut of_unknown, unknown(sample, i / 2)),
            };
            let call = call(&caller, &email);
            let began = Instant::now();
            let reply = call.await;
            times.push(began.elapsed());
            let answer = reply.expect(status).anonymised();
            assert_eq!(first.get_or_insert(answer.clone()), &answer);
        }
        let p = rank_test(&of_known, &of_unknown);
        let gap = median(&of_known).abs_diff(median(&of_unknown));
        assert!(gap < Duration::from_millis(5), "{gap:?} between the medians");
        if p > NOISE || gap < SEEN_BY_NOBODY {
            return;
        }
        ps.push(p);
    }
    panic!("known and unknown e-mails differ in time: p {ps:?}");
}

async fn world_of(shape: Shape) -> World {
    World::of(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await
}

async fn a_reset_takes_as_long_for_an_unknown_email(shape: Shape) {
    let world = world_of(shape).await;
    expect_no_gap(&world, 202, ask_reset).await;
}

async fn a_sign_in_takes_as_long_for_an_unknown_email(shape: Shape) {
    let world = world_of(shape).await;
    expect_no_gap(&world, 401, |caller, email| {
        log_in(caller, email, "not the password")
    })
    .await;
}

/// A thousand hashes: on one shape.
#[test]
fn a_sign_in_on_sqlite() {
    tests::run(Shape::Sqlite, a_sign_in_takes_as_long_for_an_unknown_email);
}

on_every_shape!(a_reset_takes_as_long_for_an_unknown_email);
