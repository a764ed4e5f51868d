//! Single connections to PostgreSQL that end or hang inside a request do not affect later requests.

use super::load::{Load, is_refusal, is_success, is_success_or_refusal};
use super::{RESPONSE_TIMEOUT, expect_ready};
use serde_json::json;
use std::time::Instant;
use tests::{Call, Caller, Post, Shape, User, World, eventually, fresh_key, on_postgresql};

/// The requests after a failure, more than there are connections.
const LATER_REQUESTS: usize = 30;

/// A user with a token and a published post.
struct Fixture {
    ann: User,
    bearer: Caller,
    post: Post,
}

/// A kind of request, and a part of a statement that it executes.
struct Case {
    statement: &'static str,
    request: fn(&Fixture) -> Call,
}

const CASES: [Case; 4] = [
    Case {
        statement: "FROM posts",
        request: |fixture| fixture.bearer.get(&fixture.post.path),
    },
    Case {
        statement: "INSERT INTO posts",
        request: |fixture| fixture.bearer.post("/posts").json(&json!({ "title": "A post" })),
    },
    Case {
        statement: "INSERT INTO payments",
        request: pay,
    },
    Case {
        statement: "COMMIT",
        request: pay,
    },
];

fn pay(fixture: &Fixture) -> Call {
    let members = json!({ "amount": 100, "currency": "EUR" });
    fixture.bearer.payment(&fresh_key(), &members)
}

async fn start(shape: Shape) -> (World, Fixture) {
    let world = World::builder(shape).postgres_proxy().start().await;
    let fixture = fixture(&world).await;
    (world, fixture)
}

async fn fixture(world: &World) -> Fixture {
    let (ann, app) = world.user_and_app().await;
    let scope = "posts:read posts:write payments:read payments:write";
    let token = app.tokens(&ann, scope).await.access;
    Fixture {
        bearer: world.anyone().bearer(&token),
        post: ann.publish("A post").await,
        ann,
    }
}

/// Expects that later requests of all kinds succeed.
async fn expect_normal_service(fixture: &Fixture) {
    for _ in 0..LATER_REQUESTS {
        for case in &CASES {
            let reply = (case.request)(fixture).await;
            assert!(is_success(&reply), "{reply}");
        }
        fixture.ann.get("/me").await.expect(200);
    }
}

async fn a_connection_that_ends_inside_a_request_affects_no_later_request(shape: Shape) {
    let (world, fixture) = start(shape).await;
    let proxy = world.postgres_proxy();
    for case in &CASES {
        proxy.cut_at(case.statement);
        let reply = (case.request)(&fixture).may_fail().await;
        // The program may repeat a statement that did not reach the server.
        assert!(is_success_or_refusal(&reply), "{}: {reply}", case.statement);
        assert!(proxy.has_sprung(), "{} was not executed", case.statement);
        expect_normal_service(&fixture).await;
    }
}

async fn a_client_that_leaves_inside_a_request_affects_no_later_request(shape: Shape) {
    let (world, fixture) = start(shape).await;
    // The writes of one user follow each other, so those of the user who leaves wait for PostgreSQL.
    let leaving = self::fixture(&world).await;
    let proxy = world.postgres_proxy();
    for case in &CASES {
        proxy.hold_at(case.statement);
        let call = (case.request)(&leaving).may_fail();
        let request = tokio::spawn(call.attempt());
        eventually("the statement was not executed", || async { proxy.has_sprung() }).await;
        // Closes the connection of the client while the program waits for PostgreSQL.
        request.abort();
        let _ = request.await;
        expect_normal_service(&fixture).await;
        proxy.release();
        expect_normal_service(&leaving).await;
    }
}

async fn connections_that_fall_silent_are_replaced(shape: Shape) {
    let setup = World::builder(shape).default_time_limits();
    let world = setup.postgres_proxy().start().await;
    let load = Load::start(&world).await;
    load.wait_for_responses(Instant::now(), 20).await;
    let before = Instant::now();
    world.postgres_proxy().silence_open_connections();
    let recovered = load.wait_for_recovery().await;
    load.wait_for_responses(recovered, 20).await;
    let responses = load.stop().await;
    responses.expect_within(RESPONSE_TIMEOUT);
    responses.expect_between("before", None, Some(before), is_success);
    let soon_after = |sent: Instant, _| sent > before && sent < recovered;
    responses.expect_all("soon after", soon_after, |reply| {
        is_success(reply) || is_refusal(reply)
    });
    responses.expect_between("after the recovery", Some(recovered), None, is_success);
    expect_ready(&world).await;
}
on_postgresql!(
    a_connection_that_ends_inside_a_request_affects_no_later_request,
    a_client_that_leaves_inside_a_request_affects_no_later_request,
    connections_that_fall_silent_are_replaced,
);
