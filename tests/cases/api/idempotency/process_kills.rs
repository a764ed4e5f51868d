//! Kills in the middle of payments, with clients that send again: each answer is of one payment, each key of one.

use serde_json::json;
use shared::fetch_all;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tests::{Caller, Shape, World, fresh_key, on_every_shape};

const CLIENTS: usize = 4;

/// What all clients see.
#[derive(Default)]
struct Seen {
    is_over: AtomicBool,
    /// Answers of 201.
    made: AtomicUsize,
    /// Calls that were cut short.
    broken: AtomicUsize,
    /// Answers of 201 that were given before, to a call that was cut short.
    replayed: AtomicUsize,
}

/// Pays without a pause, each payment under a key of its own that is sent again until it is answered: the ids by the
/// keys.
async fn keep_paying(replicas: Vec<Caller>, seen: Arc<Seen>) -> BTreeMap<String, String> {
    let mut paid = BTreeMap::new();
    while !seen.is_over.load(Ordering::Relaxed) {
        let key = fresh_key();
        let members = json!({ "amount": 100, "currency": "EUR", "metadata": { "key": key } });
        let mut tries = 0;
        let reply = loop {
            tries += 1;
            let replica = &replicas[tries % replicas.len()];
            match replica.payment(&key, &members).attempt().await {
                Some(reply) if reply.status == 201 => break reply,
                Some(reply) => assert!([503, 409].contains(&reply.status), "{reply}"),
                None => {
                    seen.broken.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        assert!(tries > 1 || !reply.has("idempotent-replayed"), "{reply}");
        seen.made.fetch_add(1, Ordering::Relaxed);
        let replayed = usize::from(reply.has("idempotent-replayed"));
        seen.replayed.fetch_add(replayed, Ordering::Relaxed);
        paid.insert(key, reply.json()["id"].as_str().unwrap().to_owned());
    }
    paid
}

async fn a_killed_payment_is_whole_or_not_at_all(shape: Shape) {
    let mut world = World::start(shape).await;
    // Two hundred on each engine, and some where two of everything are killed at once.
    let rounds = if shape == Shape::Split { 40 } else { 200 };
    let ann = world.sign_up().await;
    let (replicas, seen) = (super::replicas(&world, &ann), Arc::new(Seen::default()));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(keep_paying(replicas.clone(), Arc::clone(&seen))))
        .collect();
    for round in 0..rounds {
        // The clients are at it again; then another moment of what they do in each round.
        let made = seen.made.load(Ordering::Relaxed);
        while seen.made.load(Ordering::Relaxed) < made + CLIENTS {
            assert!(!clients.iter().any(|client| client.is_finished()));
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_micros(round % 40 * 100)).await;
        world.kill();
        world.start_again().await;
    }
    seen.is_over.store(true, Ordering::Relaxed);
    let mut answered = BTreeMap::new();
    for client in clients {
        answered.extend(client.await.unwrap());
    }
    let query = "SELECT metadata, public_id FROM payments";
    let stored = fetch_all!(world.db().await.reader(), (String, String), query).unwrap();
    let by_key = |(metadata, id): (String, String)| {
        let metadata: BTreeMap<String, String> = serde_json::from_str(&metadata).unwrap();
        (metadata["key"].clone(), id)
    };
    assert_eq!(stored.len(), answered.len(), "a key with two payments, or none");
    assert_eq!(
        stored.into_iter().map(by_key).collect::<BTreeMap<_, _>>(),
        answered
    );
    let (broken, replayed) = (
        seen.broken.load(Ordering::Relaxed),
        seen.replayed.load(Ordering::Relaxed),
    );
    // Kills fell before the commit, and between that and the answer.
    assert!(
        broken > replayed && replayed > 0,
        "{broken} calls were cut short, {replayed} of them after they were done"
    );
}

on_every_shape!(a_killed_payment_is_whole_or_not_at_all);
