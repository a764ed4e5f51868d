//! Kills during payments with retrying clients: each response and each key belongs to one payment.

use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use storage::fetch_all;
use tests::{Caller, Shape, World, fresh_key, on_every_shape, print_figure, rounds};

const CLIENTS: usize = 4;

/// The observations of all clients.
#[derive(Default)]
struct Observations {
    stopped: AtomicBool,
    /// The number of 201 responses.
    made: AtomicUsize,
    /// The number of requests without a complete response.
    broken: AtomicUsize,
    /// The number of 201 responses to retries of requests that had been committed.
    replayed: AtomicUsize,
}

/// Creates payments continuously, each with its own key, and retries until each is answered. Returns the ids
/// by key.
async fn keep_paying(replicas: Vec<Caller>, observed: Arc<Observations>) -> BTreeMap<String, String> {
    let mut paid = BTreeMap::new();
    while !observed.stopped.load(Ordering::Relaxed) {
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
                    observed.broken.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        assert!(tries > 1 || !reply.has("idempotent-replayed"), "{reply}");
        observed.made.fetch_add(1, Ordering::Relaxed);
        let replayed = usize::from(reply.has("idempotent-replayed"));
        observed.replayed.fetch_add(replayed, Ordering::Relaxed);
        paid.insert(key, reply.json()["id"].as_str().unwrap().to_owned());
    }
    paid
}

async fn payments_are_atomic_under_kills(shape: Shape) {
    let mut world = World::start(shape).await;
    // Fewer where all replicas are killed.
    let rounds = if shape == Shape::Split {
        rounds(4, 40)
    } else {
        rounds(12, 200)
    };
    let ann = world.user().await;
    let (replicas, observed) = (world.at_each_api(&ann), Arc::new(Observations::default()));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(keep_paying(replicas.clone(), Arc::clone(&observed))))
        .collect();
    for round in 0..rounds {
        // Waits until the clients make progress. The delay before the kill differs from round to round.
        let made = observed.made.load(Ordering::Relaxed);
        while observed.made.load(Ordering::Relaxed) < made + CLIENTS {
            assert!(!clients.iter().any(|client| client.is_finished()));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_micros(round % 40 * 100)).await;
        world.kill();
        world.restart().await;
    }
    observed.stopped.store(true, Ordering::Relaxed);
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
    assert_eq!(stored.len(), answered.len(), "a key has no payment or several");
    assert_eq!(
        stored.into_iter().map(by_key).collect::<BTreeMap<_, _>>(),
        answered
    );
    let (broken, replayed) = (
        observed.broken.load(Ordering::Relaxed),
        observed.replayed.load(Ordering::Relaxed),
    );
    // Some kills occur before the commit, and some between commit and response.
    print_figure(&format!(
        "{broken} payments were interrupted by kills, {replayed} of them after their commit"
    ));
    assert!(broken > 0, "no request was interrupted");
}

on_every_shape!(payments_are_atomic_under_kills);
