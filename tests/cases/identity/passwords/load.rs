//! However many sign in at once: memory is that of the permits, and who is too many is told so.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tests::{PASSWORD, Raw, Shape, World, all_at_once, counts, on_every_shape};

const PERMITS: u64 = 2;
/// Of one hash, in KiB.
const HASH: u64 = 19_456;
/// What else the requests themselves may take, in KiB.
const SLACK: u64 = 64 * 1024;

/// The most memory that any of the processes has had since the watch began, beyond what it had then, in KiB.
struct Watch {
    most: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    watching: std::thread::JoinHandle<()>,
}

impl Watch {
    fn begin(world: &World) -> Self {
        let (most, is_over) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (found, end) = (Arc::clone(&most), Arc::clone(&is_over));
        let before: Vec<(u32, u64)> = world.pids().into_iter().map(|pid| (pid, resident(pid))).collect();
        let watching = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                for (pid, before) in &before {
                    found.fetch_max(resident(*pid).saturating_sub(*before), Ordering::Relaxed);
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        Self {
            most,
            is_over,
            watching,
        }
    }

    fn expect_bounded(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.watching.join().unwrap();
        let most = self.most.load(Ordering::Relaxed);
        assert!(most <= PERMITS * HASH + SLACK, "{most} KiB more than before");
    }
}

/// The resident set of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap().trim_end_matches("kB").trim().parse().unwrap()
}

async fn world_of(shape: Shape) -> World {
    World::of(shape)
        .flag("--argon2-permits", &PERMITS.to_string())
        .flag("--login-failures-address", "10000")
        .start()
        .await
}

async fn two_hundred_sign_ins_at_once_take_the_memory_of_the_permits(shape: Shape) {
    let world = world_of(shape).await;
    let ann = world.sign_up().await;
    let watch = Watch::begin(&world);
    let replies = all_at_once(200, |n| {
        let email = match n % 2 {
            0 => ann.email.clone(),
            _ => format!("nobody{n}@example.org"),
        };
        let body = json!({ "email": email, "password": PASSWORD });
        world.anyone().post("/login").json(&body).may_fail().into_future()
    })
    .await;
    watch.expect_bounded();
    let counts = counts(&replies);
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

async fn sign_ins_that_are_given_up_free_no_permit_early(shape: Shape) {
    let world = world_of(shape).await;
    let ann = world.sign_up().await;
    let ports = world.api_ports();
    let watch = Watch::begin(&world);
    for n in 0..300 {
        let body = format!(r#"{{"email":"nobody{n}@example.org","password":"{PASSWORD}"}}"#);
        let request = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut aborted = Raw::connect(ports[n % ports.len()]).await;
        aborted.send(request).await;
    }
    watch.expect_bounded();
    // Permits are free again, all of them.
    world.log_in(&ann.email, PASSWORD).await;
}

on_every_shape!(
    two_hundred_sign_ins_at_once_take_the_memory_of_the_permits,
    sign_ins_that_are_given_up_free_no_permit_early,
);
