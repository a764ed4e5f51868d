//! Many at once, and a kill in the middle: one key is active, one staged, whatever happens.

use super::{IN_TIME, RIPE, SOON, kids, list, one, until_published};
use serde_json::Value;
use std::time::{Duration, Instant};
use tests::{Shape, World, on_every_shape};

const ROUNDS: u32 = 20;

async fn of_twenty_rotations_and_two_starts_one_wins(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (first, second) = (one(&world, "active"), one(&world, "staged"));
    // The clock stands still: the key that the winner stages cannot sign yet.
    world.advance(RIPE);
    let rotations: Vec<_> = (0..20)
        .map(|_| world.spawn(&["keys", "rotate", "--json"]))
        .collect();
    let _started = tokio::join!(world.start_beside(), world.start_beside());
    let mut won = Vec::new();
    for rotation in rotations {
        let output = rotation.wait_with_output().unwrap();
        let says = String::from_utf8_lossy(&output.stderr);
        match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(change) if change["done"] == "rotated" => won.push(change),
            Ok(change) => assert_eq!(
                (&change["done"], &change["active"]),
                (&"overtaken".into(), &second.clone().into())
            ),
            Err(_) => assert!(says.contains("may not sign before"), "{says}"),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    assert_eq!((one(&world, "retired"), one(&world, "active")), (first, second));
    assert_eq!(won[0]["staged"], one(&world, "staged").as_str());
}

async fn a_killed_rotation_is_whole_or_not_at_all(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    world.advance(RIPE);
    let began = Instant::now();
    world.cli(&["keys", "rotate", "--json"], "");
    // When to kill: later after a round that was cut short and earlier after one that came through, so that
    // the kills gather where the writes are, however busy the machine is.
    let mut until_killed = began.elapsed() / 2;
    let mut rotated = 0;
    for _ in 0..ROUNDS {
        world.advance(RIPE);
        let before = one(&world, "active");
        let mut rotation = world.spawn(&["keys", "rotate"]);
        tokio::time::sleep(until_killed).await;
        rotation.kill().unwrap();
        rotation.wait().unwrap();
        let came_through = one(&world, "active") != before;
        until_killed = until_killed * if came_through { 3 } else { 5 } / 4;
        rotated += u32::from(came_through);
        assert_eq!(kids(&world, "staged").len(), 1, "{:?}", list(&world));
    }
    assert!(
        (1..ROUNDS).contains(&rotated),
        "{rotated} of {ROUNDS} rotations came through"
    );
    let last = [one(&world, "active"), one(&world, "staged")];
    until_published(&world, SOON, |kids| kids.ends_with(&last)).await;
}

/// The issuer itself rotates by age, while commands do: one of them wins.
async fn a_rotation_by_age_beside_one_by_hand_is_one(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let second = one(&world, "staged");
    let _beside = world.start_beside().await;
    world.advance(Duration::from_secs(30 * 86_400));
    let rotations: Vec<_> = (0..4).map(|_| world.spawn(&["keys", "rotate"])).collect();
    for rotation in rotations {
        rotation.wait_with_output().unwrap();
    }
    until_published(&world, IN_TIME, |kids| kids.len() == 3).await;
    assert_eq!(one(&world, "active"), second);
    assert_eq!(
        (kids(&world, "retired").len(), kids(&world, "staged").len()),
        (1, 1)
    );
}

on_every_shape!(
    of_twenty_rotations_and_two_starts_one_wins,
    a_killed_rotation_is_whole_or_not_at_all,
    a_rotation_by_age_beside_one_by_hand_is_one,
);
