//! Apps whose back end calls for all its users from one address.

use super::{ADDRESS, at, exhaust, expect_rate_limited, limit_numbers, limited};
use serde_json::json;
use tests::{App, Caller, Shape, Tokens, World, on_every_shape, run_concurrently};

const CLIENT: u32 = 30;

/// The back end of an app calls the issuer for all its users from one address.
async fn authenticated_clients_are_counted_by_their_own_name(shape: Shape) {
    let setup = limited(shape)
        .env("LATCHKEY_RATE_LIMIT_ADDRESS", &ADDRESS.to_string())
        .env("LATCHKEY_RATE_LIMIT_CLIENT", &CLIENT.to_string());
    let world = setup.start().await;
    let register = || world.app().kind("service").scope("posts:read").register();
    let (busy, other, public) = (register(), register(), world.app().register());
    let address = at(&world, "192.0.2.1");
    let introspect = |app: &App| app.client_call(&address, "/introspect", &[("token", "x")]);
    for n in 0..ADDRESS {
        let issued = busy.token(&address, &[("grant_type", "client_credentials")]);
        let issued = issued.await.expect(200);
        assert!(!issued.header("ratelimit").contains("address"), "{n}: {issued}");
        introspect(&busy).await.expect(200);
    }
    let reply = busy
        .client_call(&address, "/revoke", &[("token", "x")])
        .await
        .expect(200);
    assert_eq!(limit_numbers(&reply, "client")[0], CLIENT, "{reply}");
    // None of that was counted under the address, nor under another client there.
    for _ in 0..ADDRESS / 2 {
        address.get("/csrf").await.expect(200);
    }
    introspect(&other).await.expect(200);
    // The limit of the client is the same at every address.
    let elsewhere = at(&world, "192.0.2.2");
    let exceeding = || busy.client_call(&elsewhere, "/introspect", &[("token", "x")]);
    expect_rate_limited(exhaust(CLIENT, exceeding).await, "client", CLIENT);
    introspect(&busy).await.expect_error(429, "rate_limited");
    introspect(&other).await.expect(200);
    // A request that did not authenticate is counted under the address, whatever client it names.
    let (third, fourth) = (at(&world, "192.0.2.3"), at(&world, "192.0.2.4"));
    let wrong = App {
        secret: Some("wrong".to_owned()),
        ..other.clone()
    };
    let guess = || wrong.client_call(&third, "/introspect", &[("token", "x")]);
    expect_rate_limited(exhaust(ADDRESS, guess).await, "address", ADDRESS);
    let refresh = || public.refresh(&fourth, "x");
    expect_rate_limited(exhaust(ADDRESS, refresh).await, "address", ADDRESS);
}

/// The back end of an app goes on although somebody else at its address has exhausted the limit.
async fn a_flood_from_its_address_does_not_stop_an_app(shape: Shape) {
    let setup = limited(shape)
        .env("LATCHKEY_RATE_LIMIT_READS", "1000")
        .env("LATCHKEY_RATE_LIMIT_ADDRESS", &ADDRESS.to_string());
    let world = setup.start().await;
    let address = at(&world, "192.0.2.1");
    let (app, ann) = (world.app().kind("web").register(), world.user().await);
    let tokens = app.tokens(&ann, "posts:read").await;
    expect_rate_limited(
        exhaust(ADDRESS, || address.get("/posts")).await,
        "address",
        ADDRESS,
    );
    let refreshed = Tokens::parse(app.refresh(&address, &tokens.refresh).await);
    app.client_call(&address, "/introspect", &[("token", &refreshed.access)])
        .await
        .expect(200);
    // A copy with other credentials has no further headers.
    let from_there = |caller: Caller| caller.with("x-forwarded-for", "192.0.2.1");
    let bearer = from_there(address.bearer(&refreshed.access));
    for _ in 0..2 * ADDRESS {
        let reply = bearer.get("/protected").await.expect(200);
        assert!(!reply.header("ratelimit").contains("address"), "{reply}");
    }
    // Credentials that are not accepted do not lift the limit, with any method of authentication.
    let wrong = App {
        secret: Some("wrong".to_owned()),
        ..app.clone()
    };
    let guess = || wrong.client_call(&address, "/introspect", &[("token", "x")]);
    expect_rate_limited(exhaust(ADDRESS, guess).await, "address", ADDRESS);
    let forged = from_there(address.bearer("forged"));
    expect_rate_limited(
        exhaust(ADDRESS, || forged.get("/protected")).await,
        "address",
        ADDRESS,
    );
    // A scheme that the API ignores leaves the cookie, whose request must have no effect.
    let (sid, csrf) = (ann.sid.clone(), ann.csrf.clone());
    let with_cookie = from_there(address.session(&sid, &csrf)).with("authorization", "Basic eDp4");
    let body = json!({ "title": "Beyond the limit" });
    expect_rate_limited(
        exhaust(ADDRESS, || with_cookie.post("/posts").json(&body)).await,
        "address",
        ADDRESS,
    );
    // A flood is stopped before its credentials are looked at.
    expect_rate_limited(
        exhaust(ADDRESS * 10, || address.get("/posts")).await,
        "address",
        ADDRESS,
    );
    expect_rate_limited(bearer.get("/protected").await, "address", ADDRESS);
}

/// The 700 calls are more than the default limit by address allows, and fewer than that by client. The clock
/// stands still, so that all are made in one minute.
async fn the_back_end_of_many_users_refreshes_at_the_default_limits(shape: Shape) {
    const USERS: usize = 7;
    const REFRESHES_OF_USER: usize = 100;
    const DEFAULT_ADDRESS: u32 = 600;
    const DEFAULT_CLIENT: u32 = 3000;
    let setup = World::builder(shape).clock().env("LATCHKEY_RATE_LIMITS", "on");
    let setup = setup.env("LATCHKEY_TRUSTED_PROXIES", "127.0.0.0/8");
    let world = setup.start().await;
    let app = world.app().kind("web").register();
    let mut families = Vec::new();
    for _ in 0..USERS {
        families.push(app.tokens(&world.user().await, "posts:read").await);
    }
    let back_end = at(&world, "192.0.2.1");
    let refreshed = run_concurrently(USERS, |n| {
        let (app, back_end, mut tokens) = (app.clone(), back_end.clone(), families[n].clone());
        async move {
            for _ in 0..REFRESHES_OF_USER {
                tokens = Tokens::parse(app.refresh(&back_end, &tokens.refresh).await);
                let [quota, ..] = limit_numbers(&tokens.reply, "client");
                assert_eq!(quota, DEFAULT_CLIENT, "{}", tokens.reply);
            }
            tokens
        }
    })
    .await;
    // Calls without credentials are counted under the address, and none of the calls of the app was.
    let stranger = || back_end.post("/token").form(&[("grant_type", "x")]);
    stranger().await.expect(401);
    expect_rate_limited(
        exhaust(DEFAULT_ADDRESS, stranger).await,
        "address",
        DEFAULT_ADDRESS,
    );
    Tokens::parse(app.refresh(&back_end, &refreshed[0].refresh).await);
}

on_every_shape!(
    authenticated_clients_are_counted_by_their_own_name,
    a_flood_from_its_address_does_not_stop_an_app,
    the_back_end_of_many_users_refreshes_at_the_default_limits,
);
