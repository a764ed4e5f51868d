//! Clients that registered themselves and were never used end after a day.

use super::{REGISTER, Registered, expect_unknown, open, register, spa, web};
use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Shape, count_unused_registrations, on_every_shape};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Batches of 500 rows with pauses, beside other tests.
const TIMEOUT: Duration = Duration::from_secs(120);

async fn a_hundred_thousand_abandoned_registrations_are_gone_after_a_day(shape: Shape) {
    let mut world = open(shape).await;
    let (db, user) = (world.db().await, world.user().await);
    let by_administrator = world.app().register();
    let used = register(&world.anyone(), &spa()).await;
    used.app.tokens(&user, "posts:read").await;
    let unused = register(&world.anyone(), &web()).await;
    // Rows of its own do not keep a client that was never used.
    let request = unused.app.authorization().without("client_id");
    let parameters: Vec<_> = request.parameters().to_vec();
    let pushed = unused
        .app
        .client_call(&world.anyone(), "/par", &as_fields(&parameters))
        .await;
    pushed.expect(201);
    world.abandon_registrations(&db).await;
    // There is no room for more. A process counts at most every ten seconds.
    world.stop().await;
    world.restart().await;
    let refused = world.anyone().post(REGISTER).json(&spa()).await;
    let refused = refused.expect_error(429, "rate_limited");
    assert!(
        refused.text().contains("not used yet") && refused.has("retry-after"),
        "{refused}"
    );
    // The origins of administrators' apps and of used ones are known beside them.
    for origin in ["https://app.test", "https://page.test"] {
        let reply = world.anyone().get("/posts").header("origin", origin).await;
        assert_eq!(reply.header("access-control-allow-origin"), origin);
    }
    world.advance(DAY);
    // They are unknown at once, before their rows are deleted.
    expect_unknown(&world, &unused, &user).await;
    let manager = unused.manager(&world);
    manager
        .get(&unused.path())
        .await
        .expect_error(401, "invalid_token");
    let basic = unused
        .app
        .client_call(&world.anyone(), "/introspect", &[("token", "x")])
        .await;
    basic.expect_token_error(401, "invalid_client");
    world.stop().await;
    world.restart().await;
    let began = Instant::now();
    while count_unused_registrations(&db).await > 0 {
        assert!(began.elapsed() < TIMEOUT, "rows remain");
        // Live clients are served meanwhile.
        by_administrator.tokens(&user, "posts:read").await;
    }
    for app in [&used.app, &by_administrator] {
        app.tokens(&user, "posts:read").await;
        world.cli(&["clients", "show", &app.id, "--json"], "");
    }
    let listed = world.cli(&["clients", "list", "--json"], "");
    assert!(listed.as_array().unwrap().len() < 10, "{listed}");
    Registered::parse(world.anyone().post(REGISTER).json(&spa()).await);
}

fn as_fields(parameters: &[(String, String)]) -> Vec<(&str, &str)> {
    let fields = parameters.iter();
    fields
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

async fn the_first_code_or_token_keeps_a_client(shape: Shape) {
    let world = open(shape).await;
    let user = world.user().await;
    let client = register(&world.anyone(), &web()).await;
    let unused_until =
        || world.cli(&["clients", "show", &client.app.id, "--json"], "")["unused_until"].clone();
    assert!(unused_until().is_string());
    // Neither a page nor an error nor a refusal is a use.
    let mut browser = user.browser();
    let denied = browser
        .complete_flow(&client.app.authorization().path(), &user, "deny")
        .await;
    denied.unwrap();
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", "unknown"),
        ("redirect_uri", "x"),
    ];
    client.app.token(&world.anyone(), &fields).await.expect(400);
    client.manager(&world).get(&client.path()).await.expect(200);
    assert!(unused_until().is_string());
    client.app.authorize(&mut browser, &user, "posts:read").await;
    assert_eq!(unused_until(), json!(null));
    world.advance(DAY);
    client.app.tokens(&user, "posts:read").await;
}

on_every_shape!(
    a_hundred_thousand_abandoned_registrations_are_gone_after_a_day,
    the_first_code_or_token_keeps_a_client,
);
