//! Pages of payments: each payment of the user once, in order, forward and back.

use serde_json::{Value, json};
use storage::execute;
use tests::{SharedWorld, User, World, expect_pages_of_45, follow_pages, items, link, on_every_shape};

const START: i64 = 1_700_000_000_000_000;

/// Inserts payments at these microseconds, in this order. Returns their ids.
async fn insert(world: &World, user: &User, micros: impl IntoIterator<Item = i64>) -> Vec<String> {
    let db = world.db().await;
    let mut tx = db.begin().await.unwrap();
    let mut ids = Vec::new();
    for at in micros {
        let id = format!("pay_{}", foundation::random::uuid_v7(world.now()));
        let insert =
            "INSERT INTO payments (public_id, user_id, status, amount, amount_captured, amount_refunded,
                                            currency, metadata, created_at, updated_at)
                      VALUES ($1, $2, 'created', 100, 0, 0, 'EUR', '{}', $3, $3)";
        execute!(tx.on(), insert, id.as_str(), user.id, START + at).unwrap();
        ids.push(id);
    }
    tx.commit().await.unwrap();
    ids
}

fn ids(items: &[Value]) -> Vec<String> {
    items
        .iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Pages through 45 payments at these microseconds, interleaved with payments of another user, ascending and
/// descending.
async fn expect_pages_in_both_orders(world: SharedWorld, at: impl Fn(i64) -> i64) {
    let (ann, bob) = (world.user().await, world.user().await);
    let mut oldest_first = Vec::new();
    for n in 0..45 {
        oldest_first.extend(insert(&world, &ann, [at(n)]).await);
        if n % 9 == 0 {
            insert(&world, &bob, [at(n)]).await;
        }
    }
    for query in ["?order=asc", "?order=asc&sort=title&limit=1"] {
        let found = expect_pages_of_45(&ann, &format!("/payments{query}")).await;
        assert_eq!(ids(&found), oldest_first, "{query}");
    }
    oldest_first.reverse();
    for query in ["", "?order=desc", "?order=up&status=created&user_id=0"] {
        let found = expect_pages_of_45(&ann, &format!("/payments{query}")).await;
        assert_eq!(ids(&found), oldest_first, "{query}");
    }
}

async fn payments_a_microsecond_apart_are_all_listed_once(world: SharedWorld) {
    expect_pages_in_both_orders(world, |n| n).await;
}

async fn payments_of_the_same_instant_are_all_listed_once(world: SharedWorld) {
    expect_pages_in_both_orders(world, |_| 0).await;
}

async fn lists_and_reads_return_the_same_payment(world: SharedWorld) {
    let ann = world.user().await;
    let empty = ann.get("/payments").await.expect(200);
    assert_eq!(
        empty.json(),
        json!({ "items": [], "next": null, "links": { "next": null, "prev": null } })
    );
    let payment = ann.pay(100).await;
    let read = ann.get(&payment.path).await.expect(200).json();
    assert_eq!(items(&ann.get("/v1/payments").await.expect(200)), [read]);
}

async fn cursors_stay_within_the_list_of_their_user(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    insert(&world, &ann, 0..25).await;
    let bobs = insert(&world, &bob, 3..6).await;
    let first = ann.get("/payments").await.expect(200);
    let cursor = first.json()["next"].as_str().unwrap().to_owned();
    let page = bob.get(&format!("/payments?cursor={cursor}")).await.expect(200);
    assert_eq!(ids(&items(&page)), [bobs[1].clone(), bobs[0].clone()]);
    for none in ["x", "", &cursor[1..]] {
        let page = ann.get(&format!("/payments?cursor={none}")).await.expect(200);
        assert_eq!(page.json(), first.json(), "{none}");
    }
    let pages = follow_pages(&ann, "/payments").await;
    let back = ann.get(&link(&pages[1], "prev").unwrap()).await.expect(200);
    assert_eq!(back.json(), first.json());
}

on_every_shape!(
    payments_a_microsecond_apart_are_all_listed_once,
    payments_of_the_same_instant_are_all_listed_once,
    lists_and_reads_return_the_same_payment,
    cursors_stay_within_the_list_of_their_user,
);
