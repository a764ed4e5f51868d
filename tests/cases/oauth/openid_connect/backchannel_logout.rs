//! OpenID Connect Back-Channel Logout 1.0.

mod causes;
mod urls;

use super::{id_token, sign_in, verify};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use storage::{execute, fetch_one};
use tests::{App, Shape, SharedWorld, StubServer, World, claims, eventually, on_every_shape};

const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

fn app(world: &World, server: &StubServer) -> App {
    let url = format!("{}/logout?tenant=1", server.url);
    world.app().option(&["--backchannel-logout-uri", &url]).register()
}

/// The logout tokens that a server received.
fn received(server: &StubServer) -> Vec<String> {
    let of_form = |body: &str| {
        let mut fields = form_urlencoded::parse(body.as_bytes());
        fields.find_map(|(name, value)| (name == "logout_token").then(|| value.into_owned()))
    };
    server
        .received()
        .iter()
        .map(|request| of_form(&request.body).unwrap())
        .collect()
}

/// Waits until a server has received this many logout tokens. Returns all that it received.
pub(super) async fn wait_for(server: &StubServer, count: usize) -> Vec<String> {
    eventually("the client was not told", async || {
        received(server).len() >= count
    })
    .await;
    received(server)
}

/// Advances the clock until the client got this many tokens.
async fn wait_while_time_passes(world: &World, server: &StubServer, count: usize) -> Vec<String> {
    eventually("the client was not told", async || {
        world.advance(Duration::from_secs(2));
        received(server).len() >= count
    })
    .await;
    received(server)
}

async fn a_logout_token_names_user_and_session(world: SharedWorld) {
    let server = StubServer::start().await;
    let (user, app) = (world.user().await, app(&world, &server));
    let tokens = sign_in(&app, &mut user.browser(), &user, "openid").await;
    // A second grant of the same session does not lead to a second token.
    sign_in(&app, &mut user.browser(), &user, "openid").await;
    let sid = claims(&id_token(&tokens))["sid"].clone();
    user.post("/logout").await.expect(204);
    let received = wait_for(&server, 1).await;
    let request = &server.received()[0];
    assert_eq!(
        request.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
    let claims = verify(&world, &received[0], "logout+jwt", &app.id).await;
    let at = claims["iat"].as_i64().unwrap();
    assert!(!claims["jti"].as_str().unwrap().is_empty());
    let expected = json!({
        "iss": world.base(), "aud": app.id, "sub": user.id.to_string(), "sid": sid, "iat": at, "exp": at + 120,
        "jti": claims["jti"], "events": { LOGOUT_EVENT: {} },
    });
    assert_eq!(claims, expected);
    // It cannot be used in place of another token.
    world
        .anyone()
        .bearer(&received[0])
        .get("/me")
        .await
        .expect_error(401, "invalid_token");
}

async fn other_clients_are_not_told(world: SharedWorld) {
    let server = StubServer::start().await;
    let (told, without_openid) = (app(&world, &server), app(&world, &server));
    let of_other_user = app(&world, &server);
    let (user, other) = (world.user().await, world.user().await);
    sign_in(&without_openid, &mut user.browser(), &user, "profile:read").await;
    sign_in(&of_other_user, &mut other.browser(), &other, "openid").await;
    sign_in(&told, &mut user.browser(), &user, "openid").await;
    user.post("/logout").await.expect(204);
    let tokens = wait_for(&server, 1).await;
    let audiences: Vec<Value> = tokens.iter().map(|token| claims(token)["aud"].clone()).collect();
    assert_eq!(audiences, [json!(told.id)]);
    assert!(!world.dump().contains("INSERT INTO logout_notices"));
}

async fn an_undelivered_token_is_sent_again(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let server = StubServer::start().await;
    let (user, app) = (world.user().await, app(&world, &server));
    server.answer(503, "");
    sign_in(&app, &mut user.browser(), &user, "openid").await;
    user.post("/logout").await.expect(204);
    wait_while_time_passes(&world, &server, 2).await;
    server.answer(204, "");
    let failed = received(&server).len();
    let all = wait_while_time_passes(&world, &server, failed + 1).await;
    let last = verify(&world, all.last().unwrap(), "logout+jwt", &app.id).await;
    // Each attempt has a token of its own, which is valid when it arrives.
    assert_ne!(last["jti"], claims(&all[0])["jti"]);
    assert!(last["exp"].as_i64().unwrap() > world.now().seconds());
    let delivered = server.received().len();
    world.advance(Duration::from_secs(7200));
    sign_in_and_out(&world, &app).await;
    wait_for(&server, delivered + 1).await;
    assert_eq!(
        server.received().len(),
        delivered + 1,
        "a delivered token was sent again"
    );
}

/// Queues this many notices for an app, as if as many sessions had ended at once.
async fn queue(world: &World, app: &App, count: i64) {
    let insert = "INSERT INTO logout_notices (client_id, user_id, session_id, created_at, due_at, attempts)
                  VALUES ($1, 1, $2, $3, $3, 0)";
    let (db, now) = (world.db().await, world.now());
    for session in 1..=count {
        execute!(db.writer(), insert, app.id.as_str(), session, now).unwrap();
    }
}

async fn an_app_that_does_not_answer_delays_no_other(world: SharedWorld) {
    let (silent, server) = (StubServer::start().await, StubServer::start().await);
    silent.never_answer();
    queue(&world, &app(&world, &silent), 100).await;
    sign_in_and_out(&world, &app(&world, &server)).await;
    wait_for(&server, 1).await;
    // Four attempts for each issuer, and as many again if the first ones have timed out meanwhile.
    let (attempts, issuers) = (silent.received().len(), world.issuer_ports().len());
    assert!(attempts <= 8 * issuers, "{attempts} attempts");
}

async fn the_tokens_of_an_app_that_does_not_answer_wait_together(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let server = StubServer::start().await;
    server.never_answer();
    queue(&world, &app(&world, &server), 200).await;
    let db = world.db().await;
    let count = async |query: &'static str| fetch_one!(db.reader(), (i64,), query, world.now()).unwrap().0;
    let due = "SELECT COUNT(*) FROM logout_notices WHERE due_at <= $1";
    let undelivered = "SELECT COUNT(*) FROM logout_notices WHERE created_at <= $1";
    // The clock stands still, so a postponed token is never due.
    eventually("tokens are still due", async || count(due).await == 0).await;
    server.answer(204, "");
    eventually("tokens were not delivered", async || {
        world.advance(Duration::from_secs(2));
        count(undelivered).await == 0
    })
    .await;
    let sessions = received(&server)
        .iter()
        .map(|token| claims(token)["sid"].to_string())
        .collect::<BTreeSet<_>>();
    assert_eq!(sessions.len(), 200);
}

async fn sign_in_and_out(world: &World, app: &App) {
    let user = world.user().await;
    sign_in(app, &mut user.browser(), &user, "openid").await;
    user.post("/logout").await.expect(204);
}

on_every_shape!(
    a_logout_token_names_user_and_session,
    other_clients_are_not_told,
    an_undelivered_token_is_sent_again,
    an_app_that_does_not_answer_delays_no_other,
    the_tokens_of_an_app_that_does_not_answer_wait_together,
);
