//! A failed sign-in takes the same processor time whatever hash is stored, and if there is no account.

use super::ALONE;
use super::accounts::{insert_accounts, unmatched_hash};
use std::time::Duration;
use tests::{Shape, World, on_every_shape};

/// The memory, in KiB, and the passes of a hash, which were raised after the account `old` was created.
const MEMORY: u32 = 65_536;
const PASSES: u32 = 3;
/// An imported bcrypt hash of cost 12.
const BCRYPT: &str = "$2b$12$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG";
const UNKNOWN: &str = "nobody@example.org";
const CURRENT: &str = "current@example.org";
const OLD: &str = "old@example.org";
const IMPORTED: &str = "imported@example.org";
const SAMPLES: usize = 3;

/// Tries a wrong password at each address so many times. Returns the processor time that the programs used
/// for each address. The attempts at the addresses take turns, so that a slow moment of the machine affects
/// all.
async fn processor_times<const N: usize>(world: &World, emails: [&str; N], rounds: usize) -> [Duration; N] {
    let mut times = [Duration::ZERO; N];
    for _ in 0..rounds {
        for (email, time) in emails.iter().zip(&mut times) {
            // Each from a network of its own, so that none is delayed or refused.
            let [a, b, c]: [u8; 3] = foundation::random::bytes();
            let caller = world.anyone().with("x-forwarded-for", &format!("10.{a}.{b}.{c}"));
            let before = world.processor_time();
            caller.login(email, "not the password").await.expect(401);
            *time += world.processor_time() - before;
        }
    }
    times
}

/// Expects that the processor times of the addresses differ by less than half of the least. A hash with less
/// memory finds more of its blocks in the caches of the processor, and without equal work they would differ
/// by more than the least. A sample that differs more is repeated twice.
async fn expect_equal_times<const N: usize>(world: &World, emails: [&str; N], rounds: usize) {
    let mut samples = Vec::new();
    while samples.len() < SAMPLES {
        let times = processor_times(world, emails, rounds).await;
        let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
        if most.as_millis() * 2 < least.as_millis() * 3 {
            return;
        }
        samples.push(times);
    }
    panic!("failed sign-ins at {emails:?} differ in processor time: {samples:?}");
}

async fn failed_sign_ins_take_the_same_work_for_every_stored_hash(shape: Shape) {
    let _alone = ALONE.lock().await;
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--argon2-memory", &MEMORY.to_string())
        .flag("--argon2-passes", &PASSES.to_string())
        .start()
        .await;
    let accounts = [
        (CURRENT.to_owned(), unmatched_hash(MEMORY, PASSES)),
        (OLD.to_owned(), unmatched_hash(19_456, 2)),
    ];
    insert_accounts(&world, accounts).await;
    expect_equal_times(&world, [UNKNOWN, CURRENT, OLD], 8).await;
    let import = [
        "users",
        "create",
        "--email",
        IMPORTED,
        "--password-hash-stdin",
        "--json",
    ];
    world.cli(&import, BCRYPT);
    expect_equal_times(&world, [UNKNOWN, CURRENT, OLD, IMPORTED], 4).await;
}

on_every_shape!(failed_sign_ins_take_the_same_work_for_every_stored_hash);
