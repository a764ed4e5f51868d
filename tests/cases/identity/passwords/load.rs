//! Sign-ins under load: hashing permits bound the memory, and excess requests are shed.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use storage::fetch_one;
use tests::{
    PASSWORD, RawConnection, Shape, World, eventually, on_every_shape, on_one_shape, on_shapes,
    run_concurrently, status_counts,
};

const PERMITS: u64 = 2;
/// The number of addresses that sign up as fast as they can.
const FLOODERS: usize = 10;
/// The memory of one hash in KiB.
const HASH_MEMORY: u64 = 19_456;
/// The name of the threads that hash passwords.
const HASHING_THREAD: &str = "password-hash";
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

/// The nice values of the threads of a process whose name begins with `prefix`.
fn nice_values(pid: u32, prefix: &str) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let stats =
        threads.filter_map(|thread| std::fs::read_to_string(thread.unwrap().path().join("stat")).ok());
    let nice_value = |stat: String| {
        // The name is in parentheses; the nice value is the 17th field after it (proc_pid_stat(5)).
        let (begin, fields) = stat.rsplit_once(')').unwrap();
        let (_, name) = begin.split_once('(').unwrap();
        let nice = fields.split_whitespace().nth(16).unwrap();
        name.starts_with(prefix).then(|| nice.parse().unwrap())
    };
    stats.filter_map(nice_value).collect()
}

/// The processes with hashing threads: each with the number of these threads and its resident set size in
/// KiB. Fails the test if there are more such threads than the permits explain, or if one has the priority of
/// the threads that serve requests.
fn hashing_processes(world: &World) -> Vec<(u32, u64, u64)> {
    let hashing = world.pids().into_iter().map(|pid| {
        // The first thread, which serves requests too, has the name of the program.
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
        let (threads, others) = (nice_values(pid, HASHING_THREAD), nice_values(pid, name.trim()));
        let is_lower = |nice: &i32| others.iter().all(|other| nice > other);
        assert!(
            !others.is_empty() && threads.iter().all(is_lower),
            "{threads:?}, {others:?}"
        );
        let count = u64::try_from(threads.len()).unwrap();
        // A thread that ends is listed for a moment beside the one that takes its place.
        assert!(count <= 2 * PERMITS, "{count} hashing threads");
        (pid, count, resident_kib(pid))
    });
    hashing.filter(|(_, count, _)| *count > 0).collect()
}

async fn start_world(shape: Shape) -> World {
    World::builder(shape)
        .default_time_limits()
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

async fn sign_ups_leave_the_permits_of_sign_ins(shape: Shape) {
    let world = World::builder(shape)
        .default_time_limits()
        .flag("--argon2-permits", "1")
        .flag("--trusted-proxies", "127.0.0.1");
    let world = world.start().await;
    let ann = world.sign_up().await;
    let sign_ups = run_concurrently(200, |n| {
        let body = json!({ "email": world.fresh_email(), "password": PASSWORD });
        let address = format!("198.51.100.{n}");
        let caller = world.anyone().with("x-forwarded-for", &address);
        caller.post("/users").json(&body).may_fail().into_future()
    });
    let sign_ins = async {
        for _ in 0..10 {
            world.log_in(&ann.email, PASSWORD).await;
        }
    };
    let (sign_ups, ()) = tokio::join!(sign_ups, sign_ins);
    let counts = status_counts(&sign_ups);
    assert!(
        counts.keys().all(|status| [201, 503].contains(status)),
        "{counts:?}"
    );
}

/// Ten addresses sign up as fast as they can, while others sign in.
async fn a_flood_of_sign_ups_leaves_sign_ins_alone(shape: Shape) {
    let world = World::builder(shape)
        .default_time_limits()
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--rate-limits", "on");
    let world = world.start().await;
    let ann = world.sign_up().await;
    let has_ended = Arc::new(AtomicBool::new(false));
    let flood = run_concurrently(FLOODERS, |n| {
        let caller = world.anyone().with("x-forwarded-for", &format!("198.51.100.{n}"));
        let has_ended = Arc::clone(&has_ended);
        async move {
            let mut replies = Vec::new();
            while !has_ended.load(Ordering::Relaxed) {
                let email = format!("flood{}-{n}@example.org", replies.len());
                let body = json!({ "email": email, "password": PASSWORD });
                replies.push(caller.post("/users").json(&body).may_fail().await);
            }
            replies
        }
    });
    let sign_ins = async {
        let mut replies = Vec::new();
        for n in 0..100 {
            let caller = world.anyone().with("x-forwarded-for", &format!("203.0.113.{n}"));
            let body = json!({ "email": ann.email, "password": PASSWORD });
            replies.push(caller.post("/login").json(&body).may_fail().await);
        }
        has_ended.store(true, Ordering::Relaxed);
        replies
    };
    let (flood, sign_ins) = tokio::join!(flood, sign_ins);
    let sign_ins = status_counts(&sign_ins);
    assert!(sign_ins[&200] >= 99, "{sign_ins:?}");
    let flood = status_counts(flood.iter().flatten());
    assert!(
        flood.keys().all(|status| [201, 429, 503].contains(status)),
        "{flood:?}"
    );
    let created = flood.get(&201).copied().unwrap_or_default();
    assert!(created <= FLOODERS * 100, "{flood:?}");
    let rows = "SELECT COUNT(*) FROM security_events WHERE name <> 'authn_login_success'";
    let (rows,) = fetch_one!(world.db().await.reader(), (i64,), rows).unwrap();
    // Those of the sign-ups that succeeded and of the test's own; a refused sign-up leaves no row.
    assert!(
        usize::try_from(rows).unwrap() <= created + 10,
        "{rows} events of {flood:?}"
    );
}

async fn a_network_creates_a_hundred_accounts_in_15_minutes(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--rate-limits", "on")
        .clock();
    let world = world.start().await;
    let sign_up = |address: &str| {
        let body = json!({ "email": world.fresh_email(), "password": PASSWORD });
        let caller = world.anyone().with("x-forwarded-for", address);
        caller.post("/users").json(&body)
    };
    for n in 0..100 {
        sign_up(&format!("2001:db8:1:2::{n}")).await.expect(201);
    }
    let refused = sign_up("2001:db8:1:2::fff")
        .await
        .expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), "900");
    sign_up("2001:db8:1:3::1").await.expect(201);
    world.advance(Duration::from_secs(15 * 60));
    sign_up("2001:db8:1:2::1").await.expect(201);
}

/// The check of a new password runs before anything else and on a thread that serves requests.
async fn checks_of_new_passwords_are_cheap(world: World) {
    let crafted = "4@8({[<3613!1|70$5+7%22".repeat(2);
    let crafted: String = crafted.chars().take(40).collect();
    for password in [
        crafted.clone(),
        "aA1!".repeat(10),
        "a@".repeat(20),
        crafted.repeat(3),
    ] {
        let before = world.processor_time();
        for _ in 0..20 {
            let body = json!({ "email": "no address", "password": password });
            let refused = world.anyone().post("/users").json(&body).await;
            refused.expect_validation_errors(&["/email"]);
        }
        let used = world.processor_time() - before;
        assert!(
            used < Duration::from_millis(500),
            "20 checks of {password:?} took {used:?}"
        );
    }
}

/// A sign-in at an address without an account takes the time of a hash too, so that the time does not tell
/// whether there is one. The hashes are costly here, so that they outweigh everything else that the programs
/// do. `tests/timing` compares the times themselves.
async fn a_sign_in_at_an_unknown_address_computes_a_hash(shape: Shape) {
    let world = World::builder(shape).flag("--argon2-passes", "20").start().await;
    let ann = world.sign_up().await;
    let processor_time = async |email: &str| {
        let before = world.processor_time();
        for _ in 0..3 {
            world.anyone().login(email, "not the password").await.expect(401);
        }
        world.processor_time() - before
    };
    let known = processor_time(&ann.email).await;
    let unknown = processor_time(&world.fresh_email()).await;
    assert!(2 * unknown > known, "{unknown:?} and {known:?} with an account");
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
    // The program still hashes the passwords that have a permit. On a busy machine that takes longer than a
    // sign-in waits for one.
    eventually("the permits of aborted sign-ins are not free again", async || {
        let body = json!({ "email": ann.email, "password": PASSWORD });
        world.anyone().post("/login").json(&body).may_fail().await.status == 200
    })
    .await;
}

async fn hashing_threads_have_a_low_priority_and_return_their_memory_when_idle(shape: Shape) {
    let world = start_world(shape).await;
    let ann = world.sign_up().await;
    let login = |_| {
        let body = json!({ "email": ann.email, "password": PASSWORD });
        world.anyone().post("/login").json(&body).may_fail().into_future()
    };
    // Twice, because an allocator may treat later blocks differently.
    for _ in 0..2 {
        run_concurrently(20, login).await;
        let hashing = hashing_processes(&world);
        assert!(!hashing.is_empty());
        for (pid, threads, resident) in hashing {
            let freed = threads * HASH_MEMORY * 3 / 4;
            eventually("the memory of the hashing threads was not returned", async || {
                nice_values(pid, HASHING_THREAD).is_empty() && resident_kib(pid) + freed <= resident
            })
            .await;
        }
    }
}

on_every_shape!(
    a_sign_in_at_an_unknown_address_computes_a_hash,
    a_network_creates_a_hundred_accounts_in_15_minutes,
);
on_one_shape!(
    sign_ups_leave_the_permits_of_sign_ins,
    checks_of_new_passwords_are_cheap,
    hashing_threads_have_a_low_priority_and_return_their_memory_when_idle,
    two_hundred_concurrent_sign_ins_stay_within_the_memory_of_the_permits,
    aborted_sign_ins_keep_their_permit_until_hashing_ends,
);
on_shapes!(
    a_flood_of_sign_ups_leaves_sign_ins_alone: ; long: sqlite Sqlite, postgres Postgres, split Split
);
