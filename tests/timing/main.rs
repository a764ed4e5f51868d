//! Response times do not reveal whether an account exists: 500 known and 500 unknown e-mail addresses in
//! random order, compared with the Mann–Whitney U test.
//!
//! Equal distributions differ with p < 0.01 in one of a hundred samples. Therefore a sample that differs is
//! repeated twice: chance alone fails a test once in a million runs, while a real gap fails every sample.
//!
//! These tests run one after the other, without the load of other tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed test panics with a message"
)]
#![allow(
    clippy::large_futures,
    reason = "each test runs one future at a time on its own stack"
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use foundation::clock::Timestamp;
use serde_json::json;
use std::time::{Duration, Instant};
use storage::execute;
use tests::{Call, Caller, Shape, World, median, on_every_shape, rank_test};
use tokio::sync::Mutex;

/// E-mail addresses of each kind per sample.
const PER_KIND: usize = 500;
const SAMPLES: usize = 3;
/// The p-value above which a difference counts as chance.
const SIGNIFICANCE: f64 = 0.01;
/// A gap of medians that is not measurable over a network. Even smaller gaps, such as one more cached row,
/// are significant in the rank test.
const NEGLIGIBLE_GAP: Duration = Duration::from_micros(200);

/// Held by the running test.
static ALONE: Mutex<()> = Mutex::const_new(());

fn known(sample: usize, n: usize) -> String {
    format!("known-{sample}-{n:03}@example.org")
}

/// As long as a known address, so that the requests have the same size.
fn unknown(sample: usize, n: usize) -> String {
    format!("nobod-{sample}-{n:03}@example.org")
}

/// A stored password hash of the program's default cost that no password matches.
fn unmatched_hash() -> String {
    let encode = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
    let (salt, output): ([u8; 16], [u8; 32]) = (foundation::random::bytes(), foundation::random::bytes());
    format!(
        "$argon2id$v=19$m=19456,t=2,p=1${}${}",
        encode(&salt),
        encode(&output)
    )
}

/// Inserts the accounts of all samples directly, because creating them by the program would take minutes. Each has a
/// salt of its own, because Argon2id reads its memory in an order that depends on the salt, and some orders are slower.
async fn insert_known_accounts(world: &World) {
    let insert = "INSERT INTO users (email, email_key, email_verified, role, password_hash, epoch,
                                     password_change_required, created_at, updated_at)
                  VALUES ($1, $1, TRUE, 'user', $2, 1, FALSE, $3, $3)";
    let now: Timestamp = world.now();
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    for sample in 0..SAMPLES {
        for n in 0..PER_KIND {
            execute!(tx.on(), insert, known(sample, n), unmatched_hash(), now).unwrap();
        }
    }
    tx.commit().await.unwrap();
}

/// The numbers below `n` in random order.
fn shuffled(n: usize) -> Vec<usize> {
    let mut numbers: Vec<([u8; 8], usize)> = (0..n).map(|i| (foundation::random::bytes(), i)).collect();
    numbers.sort();
    numbers.into_iter().map(|(_, i)| i).collect()
}

/// Sends a request for each address of a sample, and repeats this with further samples until one shows no
/// gap. Expects identical responses.
async fn expect_no_gap(world: &World, status: u16, call: impl Fn(&Caller, &str) -> Call) {
    insert_known_accounts(world).await;
    let anyone = world.anyone();
    let mut differences = Vec::new();
    let mut first = None;
    for sample in 0..SAMPLES {
        let (mut of_known, mut of_unknown) = (Vec::new(), Vec::new());
        for i in shuffled(2 * PER_KIND) {
            // Each from its own address, so that no throttle counts them together.
            let caller = anyone.with("x-forwarded-for", &format!("10.{sample}.{}.{}", i / 256, i % 256));
            let (times, email) = match i % 2 {
                0 => (&mut of_known, known(sample, i / 2)),
                _ => (&mut of_unknown, unknown(sample, i / 2)),
            };
            let call = call(&caller, &email);
            let began = Instant::now();
            let reply = call.await;
            times.push(began.elapsed());
            let answer = reply.expect(status).comparable_parts();
            assert_eq!(first.get_or_insert(answer.clone()), &answer);
        }
        let p = rank_test(&of_known, &of_unknown);
        let gap = median(&of_known).abs_diff(median(&of_unknown));
        assert!(gap < Duration::from_millis(5), "{gap:?} between the medians");
        if p > SIGNIFICANCE || gap < NEGLIGIBLE_GAP {
            return;
        }
        differences.push((p, median(&of_known), median(&of_unknown)));
    }
    panic!("known and unknown e-mails differ in time: p-values and medians {differences:?}");
}

async fn start_world(shape: Shape) -> World {
    World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await
}

async fn resets_take_equally_long_for_unknown_emails(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = start_world(shape).await;
    expect_no_gap(&world, 202, |caller, email| {
        caller.post("/password-resets").json(&json!({ "email": email }))
    })
    .await;
}

async fn sign_ins_take_equally_long_for_unknown_emails(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = start_world(shape).await;
    expect_no_gap(&world, 401, |caller, email| {
        caller.login(email, "not the password")
    })
    .await;
}

/// A thousand hashes, therefore on one shape only.
#[test]
fn sign_ins_take_equally_long_on_sqlite() {
    tests::run(Shape::Sqlite, sign_ins_take_equally_long_for_unknown_emails);
}

on_every_shape!(resets_take_equally_long_for_unknown_emails);
