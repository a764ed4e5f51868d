//! Measures the latency of reads during 200 concurrent sign-ins, on SQLite in one process: `cargo run
//! --release -p tests --example logins`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its results"
)]

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::{Caller, PASSWORD, Shape, World};

const READERS: usize = 4;
const SIGN_INS: usize = 200;
const LENGTH: Duration = Duration::from_secs(5);

/// The sorted durations of reads by concurrent readers.
async fn reads(caller: &Caller, path: &str) -> Vec<Duration> {
    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let (caller, path) = (caller.clone(), path.to_owned());
            tokio::spawn(async move {
                let (began, mut took) = (Instant::now(), Vec::new());
                while began.elapsed() < LENGTH {
                    let asked = Instant::now();
                    caller.get(&path).await.expect(200);
                    took.push(asked.elapsed());
                }
                took
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

fn print_quantiles(what: &str, all: &[Duration]) {
    let at = |percent: usize| all[(all.len() - 1) * percent / 100];
    println!("{what}: {} reads, p50 {:?}, p99 {:?}", all.len(), at(50), at(99));
}

async fn measure() {
    let world = World::builder(Shape::Sqlite)
        .flag("--login-failures-address", "10000")
        .start()
        .await;
    let ann = world.sign_up().await;
    let post = ann.publish("A post").await;
    let anyone = world.anyone();
    print_quantiles("alone", &reads(&anyone, &post.path).await);
    let is_over = Arc::new(AtomicBool::new(false));
    let sign_ins: Vec<_> = (0..SIGN_INS)
        .map(|_| {
            let (caller, is_over) = (anyone.clone(), Arc::clone(&is_over));
            let body = json!({ "email": ann.email, "password": PASSWORD });
            tokio::spawn(async move {
                let (mut done, mut shed) = (0, 0);
                while !is_over.load(Ordering::Relaxed) {
                    match caller.post("/login").json(&body).may_fail().await.status {
                        200 => done += 1,
                        _ => shed += 1,
                    }
                }
                (done, shed)
            })
        })
        .collect();
    print_quantiles("beside 200 sign-ins", &reads(&anyone, &post.path).await);
    is_over.store(true, Ordering::Relaxed);
    let (mut done, mut shed) = (0, 0);
    for sign_in in sign_ins {
        let counts: (u32, u32) = sign_in.await.unwrap();
        done += counts.0;
        shed += counts.1;
    }
    println!("sign-ins: {done} done, {shed} rejected with Retry-After");
}

fn main() {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(measure());
}
