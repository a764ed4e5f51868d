//! Response times do not reveal whether an account exists: 500 known and 500 unknown e-mail addresses in
//! random order, compared with the Mann–Whitney U test.
//!
//! Equal distributions differ with p < 0.01 in one of a hundred samples. Therefore a sample that differs is
//! repeated twice: chance alone fails a test once in a million runs, while a real gap fails every sample.

use super::ALONE;
use super::accounts::{insert_accounts, unmatched_hash};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Call, Caller, Shape, World, median, on_every_shape, on_shapes, rank_test};

/// E-mail addresses of each kind per sample.
const PER_KIND: usize = 500;
const SAMPLES: usize = 3;
/// The p-value above which a difference counts as chance.
const SIGNIFICANCE: f64 = 0.01;
/// A gap of medians that is not measurable over a network. Even smaller gaps, such as one more cached row,
/// are significant in the rank test.
const NEGLIGIBLE_GAP: Duration = Duration::from_micros(200);

fn known(sample: usize, n: usize) -> String {
    format!("known-{sample}-{n:03}@example.org")
}

/// As long as a known address, so that the requests have the same size.
fn unknown(sample: usize, n: usize) -> String {
    format!("nobod-{sample}-{n:03}@example.org")
}

async fn insert_known_accounts(world: &World) {
    let numbers = (0..SAMPLES).flat_map(|sample| (0..PER_KIND).map(move |n| (sample, n)));
    let accounts = numbers.map(|(sample, n)| (known(sample, n), unmatched_hash(19_456, 2)));
    insert_accounts(world, accounts).await;
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

// A thousand hashes, therefore on one shape only.
on_shapes!(sign_ins_take_equally_long_for_unknown_emails: sqlite Sqlite);
on_every_shape!(resets_take_equally_long_for_unknown_emails);
