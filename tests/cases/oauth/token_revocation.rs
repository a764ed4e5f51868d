//! `POST /revoke` (RFC 7009).

use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{App, Call, Caller, Grant, SharedWorld, Tokens, World, basic, on_every_shape};

/// The number of access tokens that a client may revoke within their lifetime before it ends whole
/// families instead.
const MANY: i64 = 1_000;

fn revoke(app: &App, caller: &Caller, token: &str) -> Call {
    app.client_call(caller, "/revoke", &[("token", token)])
}

/// Expects that every API replica accepts the access token.
async fn expect_accepted(world: &World, access_token: &str) {
    for api in world.at_each_api(&world.anyone().bearer(access_token)) {
        api.get("/protected").await.expect(200);
    }
}

async fn a_refresh_token_ends_its_whole_grant(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let (first, other) = (
        app.tokens(&user, "posts:read").await,
        app.tokens(&user, "posts:read").await,
    );
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    let reply = revoke(&app, &anyone, &second.refresh).await.expect(200);
    assert!(reply.header("cache-control").contains("no-store"), "{reply}");
    second.expect_revoked(&world, &app).await;
    world.expect_revoked(&first.access).await;
    expect_accepted(&world, &other.access).await;
    app.refresh(&anyone, &other.refresh).await.expect(200);
}

async fn a_used_refresh_token_ends_its_whole_grant_too(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let first = app.tokens(&user, "posts:read").await;
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    revoke(&app, &anyone, &first.refresh).await.expect(200);
    second.expect_revoked(&world, &app).await;
}

async fn an_access_token_ends_alone(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let first = app.tokens(&user, "posts:read").await;
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    revoke(&app, &anyone, &first.access).await.expect(200);
    world.expect_revoked(&first.access).await;
    expect_accepted(&world, &second.access).await;
    app.refresh(&anyone, &second.refresh).await.expect(200);
}

/// Every process holds the revocation in its memory, and the table has it, until the token has expired by any
/// clock.
async fn the_revocation_of_an_access_token_lives_as_long_as_the_token(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let tokens = app.tokens(&user, "posts:read").await;
    revoke(&app, &world.anyone(), &tokens.access).await.expect(200);
    let (jti, exp) = (&tokens.claims()["jti"], &tokens.claims()["exp"]);
    let query = "SELECT expires_at FROM revocations WHERE kind = 'jti' AND subject = $1";
    let (kept_until,) = fetch_one!(world.db().await.reader(), (i64,), query, jti.as_str()).unwrap();
    assert_eq!(kept_until, (exp.as_i64().unwrap() + 60) * 1_000_000);
}

/// Inserts revocations of single tokens of this client.
async fn insert_revocations(world: &World, app: &App, name: &str, count: i64, lifetime: Duration) {
    let insert = "INSERT INTO revocations (kind, subject, revoked_at, expires_at, client_id)
                  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $4)
                  SELECT 'jti', $5 || '-' || $1 || '-' || n, $2, $3, $1 FROM numbers";
    let (now, id) = (world.now(), app.id.as_str());
    let expires_at = now.after(lifetime);
    execute!(
        world.db().await.writer(),
        insert,
        id,
        now,
        expires_at,
        count,
        name
    )
    .unwrap();
}

async fn a_client_that_revokes_many_access_tokens_ends_their_grants(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let (other, anyone) = (world.app().register(), world.anyone());
    insert_revocations(&world, &app, "expired", MANY, Duration::ZERO).await;
    insert_revocations(&world, &app, "live", MANY - 1, Duration::from_secs(600)).await;
    let last = app.tokens(&user, "posts:read").await;
    revoke(&app, &anyone, &last.access).await.expect(200);
    world.expect_revoked(&last.access).await;
    let first = Tokens::parse(app.refresh(&anyone, &last.refresh).await);
    let second = Tokens::parse(app.refresh(&anyone, &first.refresh).await);
    revoke(&app, &anyone, &first.access).await.expect(200);
    second.expect_revoked(&world, &app).await;
    world.expect_revoked(&first.access).await;
    let of_other = other.tokens(&user, "posts:read").await;
    revoke(&other, &anyone, &of_other.access).await.expect(200);
    other.refresh(&anyone, &of_other.refresh).await.expect(200);
}

/// A token of a service has no grant.
async fn a_service_revokes_any_number_of_its_tokens_one_by_one(world: SharedWorld) {
    let (service, anyone) = (
        world.app().kind("service").scope("posts:read").register(),
        world.anyone(),
    );
    insert_revocations(&world, &service, "live", 2 * MANY, Duration::from_secs(600)).await;
    let token = async || {
        let grant = [("grant_type", "client_credentials")];
        let reply = service.client_call(&anyone, "/token", &grant).await.expect(200);
        reply.json()["access_token"].as_str().unwrap().to_owned()
    };
    let (first, second) = (token().await, token().await);
    revoke(&service, &anyone, &first).await.expect(200);
    world.expect_revoked(&first).await;
    world.expect_accepted(&second).await;
}

async fn tokens_that_are_not_valid_are_revoked_already(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let tokens = app.tokens(&user, "posts:read").await;
    for _ in 0..2 {
        for token in [&tokens.access, &tokens.refresh] {
            revoke(&app, &anyone, token).await.expect(200);
        }
    }
    let long = "x".repeat(20_000);
    for token in [
        "nonsense",
        "a.b.c",
        "é",
        &long,
        &tokens.refresh.replace(".1.", ".2."),
    ] {
        revoke(&app, &anyone, token).await.expect(200);
    }
    let fields = [
        ("token", tokens.access.as_str()),
        ("token_type_hint", "refresh_token"),
    ];
    app.client_call(&anyone, "/revoke", &fields).await.expect(200);
}

async fn only_the_client_of_a_token_revokes_it(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let (other, web, anyone) = (
        world.app().register(),
        world.app().kind("web").register(),
        world.anyone(),
    );
    let tokens = app.tokens(&user, "posts:read").await;
    for client in [&other, &web] {
        for token in [&tokens.access, &tokens.refresh] {
            let reply = revoke(client, &anyone, token).await;
            reply.expect_token_error(400, "invalid_grant");
        }
    }
    for fields in [
        vec![("token", tokens.refresh.as_str())],
        vec![("token", tokens.refresh.as_str()), ("client_id", "nobody")],
        vec![("token", tokens.refresh.as_str()), ("client_id", &web.id)],
    ] {
        let reply = anyone.post("/revoke").form(&fields).await;
        reply.expect_token_error(401, "invalid_client");
    }
    let wrong_secret = anyone.with("authorization", &basic(&web.id, "wrong"));
    let reply = wrong_secret.post("/revoke").form(&[("token", &tokens.refresh)]);
    reply.await.expect_token_error(401, "invalid_client");
    expect_accepted(&world, &tokens.access).await;
    app.refresh(&anyone, &tokens.refresh).await.expect(200);
}

async fn a_confidential_client_revokes_its_tokens_by_either_authentication(world: SharedWorld) {
    let user = world.user().await;
    let web = world.app().kind("web").register();
    let anyone = world.anyone();
    let tokens = web.tokens(&user, "posts:read").await;
    revoke(&web, &anyone, &tokens.access).await.expect(200);
    world.expect_revoked(&tokens.access).await;
    let secret = web.secret.clone().unwrap();
    let fields = [
        ("token", tokens.refresh.as_str()),
        ("client_id", &web.id),
        ("client_secret", &secret),
    ];
    anyone.post("/revoke").form(&fields).await.expect(200);
    tokens.expect_revoked(&world, &web).await;
}

async fn requests_without_a_token_are_refused(world: SharedWorld) {
    let (app, anyone) = (world.app().register(), world.anyone());
    for fields in [&[][..], &[("token", "")], &[("token", "a"), ("token", "b")]] {
        let reply = app.client_call(&anyone, "/revoke", fields).await;
        reply.expect_token_error(400, "invalid_request");
    }
    anyone.get("/revoke").await.expect(405);
}

/// The code was exchanged before, so the grant that its replay would end is the one that the client has
/// ended.
async fn a_revoked_grant_stays_revoked_when_its_code_is_replayed(world: SharedWorld) {
    let (user, app) = world.user_and_app().await;
    let anyone = world.anyone();
    let grant: Grant = app.authorize(&mut user.browser(), &user, "posts:read").await;
    let tokens = Tokens::parse(app.exchange(&anyone, &grant).await);
    revoke(&app, &anyone, &tokens.refresh).await.expect(200);
    tokens.expect_revoked(&world, &app).await;
    let reply = app.exchange(&anyone, &grant).await;
    reply.expect_token_error(400, "invalid_grant");
    tokens.expect_revoked(&world, &app).await;
}

on_every_shape!(
    a_refresh_token_ends_its_whole_grant,
    a_used_refresh_token_ends_its_whole_grant_too,
    an_access_token_ends_alone,
    the_revocation_of_an_access_token_lives_as_long_as_the_token,
    a_client_that_revokes_many_access_tokens_ends_their_grants,
    a_service_revokes_any_number_of_its_tokens_one_by_one,
    tokens_that_are_not_valid_are_revoked_already,
    only_the_client_of_a_token_revokes_it,
    a_confidential_client_revokes_its_tokens_by_either_authentication,
    requests_without_a_token_are_refused,
    a_revoked_grant_stays_revoked_when_its_code_is_replayed,
);
