//! Sign-ins under load: hashing permits bound the memory, and excess requests are shed.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tests::{PASSWORD, RawConnection, Shape, World, on_every_shape, run_concurrently, status_counts};

const PERMITS: u64 = 2;
/// The memory of one hash in KiB.
const HASH_MEMORY: u64 = 19_456;
/// The memory allowed for the requests themselves in KiB.
const OTHER_MEMORY: u64 = 64 * 1024;

/// Samples the memory of all processes, and records the largest growth of a process in KiB.
struct MemoryWatch {
    largest_growth: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
    watching: std::thread::JoinHandle<()>,
}

impl MemoryWatch {
    fn begin(world: &World) -> Self {
        let (largest_growth, stopped) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (growth, end) = (Arc::clone(&largest_growth), Arc::clone(&stopped));
        let before: Vec<(u32, u64)> = world
            .pids()
            .into_iter()
            .map(|pid| (pid, resident_kib(pid)))
            .collect();
        let watching = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                for (pid, before) in &before {
                    growth.fetch_max(resident_kib(*pid).saturating_sub(*before), Ordering::Relaxed);
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        Self {
            largest_growth,
            stopped,
            watching,
        }
    }

    fn expect_bounded(self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.watching.join().unwrap();
        let growth = self.largest_growth.load(Ordering::Relaxed);
        assert!(
            growth <= PERMITS * HASH_MEMORY + OTHER_MEMORY,
            "the memory of a process grew by {growth} KiB"
        );
    }
}

/// The resident set size of a process in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap().trim_end_matches("kB").trim().parse().unwrap()
}

async fn start_world(shape: Shape) -> World {
    World::builder(shape)
        .flag("--argon2-permits", &PERMITS.to_string())
        .flag("--login-failures-address", "10000")
        .start()
        .await
}

async fn two_hundred_concurrent_sign_ins_stay_within_the_memory_of_the_permits(shape: Shape) {
    let world = start_world(shape).await;
    let ann = world.sign_up().await;
    let watch = MemoryWatch::begin(&world);
    let replies = run_concurrently(200, |n| {
        let email = match n % 2 {
            0 => ann.email.clone(),
            _ => format!("nobody{n}@example.org"),
        };
        let body = json!({ "email": email, "password": PASSWORD });
        world.anyone().post("/login").json(&body).may_fail().into_future()
    })
    .await;
    watch.expect_bounded();
    let counts = status_counts(&replies);
    assert!(
        counts.keys().all(|status| [200, 401, 503].contains(status)),
        "{counts:?}"
    );
    for reply in replies.iter().filter(|reply| reply.status == 503) {
        let seconds: u64 = reply.header("retry-after").parse().unwrap();
        assert!(seconds <= 2, "{reply}");
    }
    ann.get("/me").await.expect(200);
}

async fn aborted_sign_ins_keep_their_permit_until_hashing_ends(shape: Shape) {
    let world = start_world(shape).await;
    let ann = world.sign_up().await;
    let ports = world.api_ports();
    let watch = MemoryWatch::begin(&world);
    for n in 0..300 {
        let body = format!(r#"{{"email":"nobody{n}@example.org","password":"{PASSWORD}"}}"#);
        let request = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut aborted = RawConnection::connect(ports[n % ports.len()]).await;
        aborted.send(request).await;
    }
    watch.expect_bounded();
    // All permits are free again.
    world.log_in(&ann.email, PASSWORD).await;
}

on_every_shape!(
    two_hundred_concurrent_sign_ins_stay_within_the_memory_of_the_permits,
    aborted_sign_ins_keep_their_permit_until_hashing_ends,
);
