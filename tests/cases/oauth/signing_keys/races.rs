//! Concurrent and interrupted rotations: there is always one active key and one staged key.

use super::{STAGING_TIME, key_in_state, kids, list, wait_until_published};
use serde_json::Value;
use std::time::{Duration, Instant};
use tests::{Shape, World, on_every_shape, print_figure, rounds};

async fn concurrent_rotations_and_starts_rotate_once(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (first, second) = (key_in_state(&world, "active"), key_in_state(&world, "staged"));
    // The clock stands still, so the newly staged key cannot sign yet.
    world.advance(STAGING_TIME);
    let rotations: Vec<_> = (0..20)
        .map(|_| world.spawn(&["keys", "rotate", "--yes", "--json"]))
        .collect();
    let _started = tokio::join!(world.start_replica(), world.start_replica());
    let mut won = Vec::new();
    for rotation in rotations {
        let output = rotation.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(change) if change["done"] == "rotated" => won.push(change),
            Ok(change) => assert_eq!(
                (&change["done"], &change["active"]),
                (&"overtaken".into(), &second.clone().into())
            ),
            Err(_) => assert!(message.contains("may not sign before"), "{message}"),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!(
        (key_in_state(&world, "retired"), key_in_state(&world, "active")),
        (first, second)
    );
    assert_eq!(won[0]["staged"], key_in_state(&world, "staged").as_str());
}

async fn rotations_are_atomic_under_kills(shape: Shape) {
    let rounds = rounds(5, 20);
    let world = World::builder(shape).clock().start().await;
    world.advance(STAGING_TIME);
    let began = Instant::now();
    world.cli(&["keys", "rotate", "--yes", "--json"], "");
    // The delay before a kill: longer after an interrupted round and shorter after a completed one, so that
    // the kills concentrate around the writes on a machine of any speed.
    let mut until_killed = began.elapsed() / 2;
    let mut rotated = 0;
    for _ in 0..rounds {
        world.advance(STAGING_TIME);
        let before = key_in_state(&world, "active");
        let mut rotation = world.spawn(&["keys", "rotate", "--yes"]);
        tokio::time::sleep(until_killed).await;
        rotation.kill().unwrap();
        rotation.wait().unwrap();
        let has_rotated = key_in_state(&world, "active") != before;
        until_killed = until_killed * if has_rotated { 3 } else { 5 } / 4;
        rotated += usize::from(has_rotated);
        assert_eq!(kids(&world, "staged").len(), 1, "{:?}", list(&world));
    }
    print_figure(&format!(
        "{rotated} of {rounds} rotations completed before the kill"
    ));
    let last = [key_in_state(&world, "active"), key_in_state(&world, "staged")];
    wait_until_published(&world, |kids| kids.ends_with(&last)).await;
}

/// The issuer rotates by age while commands rotate too. One of them succeeds.
async fn automatic_and_manual_rotations_rotate_once(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let second = key_in_state(&world, "staged");
    let _beside = world.start_replica().await;
    world.advance(Duration::from_secs(30 * 86_400));
    let rotations: Vec<_> = (0..4)
        .map(|_| world.spawn(&["keys", "rotate", "--yes"]))
        .collect();
    for rotation in rotations {
        rotation.wait_with_output().unwrap();
    }
    wait_until_published(&world, |kids| kids.len() == 3).await;
    assert_eq!(key_in_state(&world, "active"), second);
    assert_eq!(
        (kids(&world, "retired").len(), kids(&world, "staged").len()),
        (1, 1)
    );
}

on_every_shape!(
    concurrent_rotations_and_starts_rotate_once,
    rotations_are_atomic_under_kills,
    automatic_and_manual_rotations_rotate_once,
);
