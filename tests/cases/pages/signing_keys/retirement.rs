//! The retirement of a key as compromised, and what the page tells of it.

use super::{PATH, keys, states};
use crate::pages::{expect_redirect, expect_words, post};
use std::time::{Duration, Instant};
use tests::{Shape, World, eventually, on_every_shape};

/// The longest time for which the form waits for the replicas of the API.
const MAX_WAIT: Duration = Duration::from_secs(2);

async fn a_compromised_key_is_retired(shape: Shape) {
    let world = World::builder(shape).start().await;
    let admin = world.user_with_role("admin").await;
    let app = world.app().register();
    let tokens = app.tokens(&admin, "posts:read").await;
    let mut browser = admin.browser();
    let page = browser.open(PATH).await;
    let before = keys(&world);
    let compromised = before[0].0.as_str();
    expect_words(
        &page,
        200,
        &format!("{compromised} is deleted at once, and the staged key signs."),
    );
    expect_words(&page, 200, &format!("keys retire --compromised {compromised}"));
    let of_clients = "may accept its tokens until they fetch the key set again:";
    expect_words(&page, 200, of_clients);
    let retire = [("kid", compromised), ("state", "active")];
    let other_state = [("kid", compromised), ("state", "retired")];
    let refused = post(&mut browser, &page, "/admin/keys/retire", &other_state).await;
    expect_words(
        &refused,
        409,
        "The keys have changed since the page was shown, so that the form had no effect.",
    );
    world.expect_accepted(&tokens.access).await;
    let began = Instant::now();
    let retired = post(&mut browser, &page, "/admin/keys/retire", &retire).await;
    let wait = began.elapsed();
    expect_redirect(&retired, PATH);
    let after = browser.open(PATH).await.visible_text();
    let confirmed = after
        .matches("stopped accepting the tokens of the key within")
        .count();
    assert!(
        confirmed == world.api_ports().len() || wait >= MAX_WAIT,
        "{wait:?}: {after}"
    );
    assert_eq!(states(&world), ["deleted", "active", "staged"]);
    world.expect_revoked_soon(&tokens.access).await;
    let after = browser.open(PATH).await;
    expect_words(&after, 200, &format!("{compromised} was retired as compromised"));
    expect_words(&after, 200, &format!("{compromised} compromised"));
    eventually(
        "a replica of the API does not confirm that it refuses the tokens",
        async || {
            let page = admin.browser().open(PATH).await.visible_text();
            page.matches("stopped accepting the tokens of the key within")
                .count()
                == world.api_ports().len()
        },
    )
    .await;
    // A link can select the list, but not what the page says about the compromised key.
    for query in ["state=active", "order=asc", "cursor=x"] {
        let selected = browser.open(&format!("{PATH}?{query}")).await;
        expect_words(
            &selected,
            200,
            &format!("{compromised} was retired as compromised"),
        );
        expect_words(&selected, 200, &format!("{compromised} compromised"));
        expect_words(&selected, 200, "stopped accepting the tokens of the key within");
    }
    // The next key took over at once, and another was staged.
    expect_words(&after, 200, "The keys can be rotated in");
    let again = post(&mut browser, &page, "/admin/keys/retire", &retire).await;
    expect_words(&again, 409, "The key has already been retired as compromised.");
    let unknown = [("kid", "none"), ("state", "active")];
    let unknown = post(&mut browser, &page, "/admin/keys/retire", &unknown).await;
    expect_words(&unknown, 404, "There is no such key.");
    let staged = [("kid", keys(&world)[2].0.clone()), ("state", "staged".to_owned())];
    let staged = staged.each_ref().map(|(name, value)| (*name, value.as_str()));
    expect_redirect(
        &post(&mut browser, &page, "/admin/keys/retire", &staged).await,
        PATH,
    );
    assert_eq!(states(&world), ["deleted", "active", "deleted", "staged"]);
    let event = admin.get("/admin/events?name=key_compromised").await.expect(200);
    assert_eq!(event.json()["items"][1]["administrator_id"], admin.id);
    // The administrator succeeded.
    let page = browser.open("/admin/events?name=key_compromised").await;
    expect_words(
        &page,
        200,
        "A signing key was retired as compromised key_compromised · kid",
    );
}

on_every_shape!(a_compromised_key_is_retired);
