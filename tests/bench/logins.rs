//! Measures the latency of reads with and without 200 concurrent sign-ins, on SQLite in one process:
//! `cargo run --release -p tests --example logins`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its results"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::{Caller, PASSWORD, Shape, World};

const READERS: usize = 4;
const SIGN_INS: usize = 200;
/// The length of one measurement.
const LENGTH: Duration = Duration::from_secs(5);

/// Reads a path with concurrent readers for [`LENGTH`]. Returns the sorted latencies.
async fn measure_reads(caller: &Caller, path: &str) -> Vec<Duration> {
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let (caller, path) = (caller.clone(), path.to_owned());
            tokio::spawn(async move {
                let (began, mut latencies) = (Instant::now(), Vec::new());
                while began.elapsed() < LENGTH {
                    let sent = Instant::now();
                    caller.get(&path).await.expect(200);
                    latencies.push(sent.elapsed());
                }
                latencies
            })
        })
        .collect();
    let mut all = Vec::new();
    for reader in readers {
        all.extend(reader.await.unwrap());
    }
    all.sort();
    all
}

fn print_quantiles(label: &str, latencies: &[Duration]) {
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100];
    let count = latencies.len();
    println!("{label}: {count} reads, p50 {:?}, p99 {:?}", at(50), at(99));
}

async fn measure() {
    let world = World::builder(Shape::Sqlite)
        .flag("--login-failures-address", "10000")
        .start()
        .await;
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    print_quantiles("without sign-ins", &measure_reads(&anyone, &post.path).await);
    let is_finished = Arc::new(AtomicBool::new(false));
    let sign_ins: Vec<_> = (0..SIGN_INS)
        .map(|_| {
            let (caller, is_finished) = (anyone.clone(), Arc::clone(&is_finished));
            let email = ann.email.clone();
            tokio::spawn(async move {
                let (mut succeeded, mut rejected) = (0, 0);
                while !is_finished.load(Ordering::Relaxed) {
                    match caller.login(&email, PASSWORD).may_fail().await.status {
                        200 => succeeded += 1,
                        _ => rejected += 1,
                    }
                }
                (succeeded, rejected)
            })
        })
        .collect();
    print_quantiles(
        &format!("with {SIGN_INS} concurrent sign-ins"),
        &measure_reads(&anyone, &post.path).await,
    );
    is_finished.store(true, Ordering::Relaxed);
    let (mut succeeded, mut rejected) = (0, 0);
    for sign_in in sign_ins {
        let counts: (u32, u32) = sign_in.await.unwrap();
        succeeded += counts.0;
        rejected += counts.1;
    }
    println!("sign-ins: {succeeded} succeeded, {rejected} were rejected");
}

fn main() {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(measure());
}
