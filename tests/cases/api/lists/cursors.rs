//! Cursors: valid, invalid, and those of deleted posts.

use super::{START, cursor, insert, items, title};
use foundation::clock::Timestamp;
use serde_json::{Value, json};
use tests::{World, base64url, expect_cursor_outlives_item, expect_prev_stops_at_first_page, on_every_shape};

async fn invalid_cursors_return_the_first_page(world: World) {
    let ann = world.user().await;
    insert(&world, &ann, (0..25).map(|n| (title(n), n))).await;
    let first = ann.get("/posts").await.expect(200);
    let at = json!(Timestamp::from_micros(START + 3).to_string());
    let broken = |value: Value| base64url(value.to_string());
    let good = first.json()["next"].as_str().unwrap().to_owned();
    for cursor in [
        String::new(),
        "x".to_owned(),
        "!!!".to_owned(),
        format!("{good}!"),
        format!("%00{good}"),
        good[1..].to_owned(),
        base64url("not json"),
        base64url([0xff, 0xfe]),
        broken(json!([at, 1])),
        broken(json!({ "created_at": at })),
        broken(json!({ "id": 1 })),
        broken(json!({ "created_at": at, "id": "1" })),
        broken(json!({ "created_at": at, "id": 1.5 })),
        broken(json!({ "created_at": at, "id": null })),
        broken(json!({ "created_at": 1, "id": 1 })),
        broken(json!({ "created_at": "yesterday", "id": 1 })),
        base64url(format!("{{\"created_at\":{at},\"id\":99999999999999999999}}")),
        base64url(format!("{{\"created_at\":{at},\"id\":1}}{}", " ".repeat(500))),
        "A".repeat(5_000),
    ] {
        for more in ["", "&dir=prev", "&dir=nonsense"] {
            let page = ann
                .get(&format!("/posts?cursor={cursor}{more}"))
                .await
                .expect(200);
            assert_eq!(items(&page), items(&first), "{cursor}{more}");
        }
    }
    let fourth = &items(&first)[3];
    let unpadded = cursor(&fourth["created_at"], &fourth["id"]);
    assert_eq!(unpadded.len() % 4, 2, "this one has padding to leave out");
    for cursor in [
        unpadded.clone(),
        format!("{unpadded}=="),
        format!("{unpadded}%3D%3D"),
    ] {
        let page = ann.get(&format!("/posts?cursor={cursor}")).await.expect(200);
        assert_eq!(items(&page)[0], items(&first)[4], "{cursor}");
    }
}

async fn a_cursor_survives_the_deletion_of_its_post(world: World) {
    let ann = world.user().await;
    insert(&world, &ann, (0..45).map(|n| (title(n), n))).await;
    for query in ["?", "?sort=title&", "?sort=title&order=desc&"] {
        expect_cursor_outlives_item(&ann, "/posts", query).await;
    }
}

async fn title_cursors_of_missing_or_hidden_posts_return_the_first_page(world: World) {
    let (ann, bob) = (world.user().await, world.user().await);
    insert(&world, &bob, (0..25).map(|n| (title(n), n))).await;
    let draft = ann.draft("M: in the middle").await;
    let first = bob.get("/posts?sort=title").await.expect(200);
    let at = &draft.record["created_at"];
    let hidden = cursor(at, &json!(draft.id));
    let missing = cursor(at, &json!(999_999));
    let elsewhere = cursor(&json!("2020-01-01T00:00:00.000000Z"), &items(&first)[5]["id"]);
    for cursor in [hidden, missing, elsewhere] {
        let page = bob
            .get(&format!("/posts?sort=title&cursor={cursor}"))
            .await
            .expect(200);
        assert_eq!(page.json(), first.json(), "{cursor}");
    }
}

async fn going_back_past_the_start_returns_the_first_page(world: World) {
    let ann = world.user().await;
    insert(&world, &ann, (0..45).map(|n| (title(n), n))).await;
    for query in ["?", "?sort=title&", "?order=asc&"] {
        expect_prev_stops_at_first_page(&ann, "/posts", query).await;
    }
}

on_every_shape!(
    invalid_cursors_return_the_first_page,
    a_cursor_survives_the_deletion_of_its_post,
    title_cursors_of_missing_or_hidden_posts_return_the_first_page,
    going_back_past_the_start_returns_the_first_page,
);
