//! A sign-in in a browser that has a session: one of the same user goes on under another `sid`, one of
//! another user ends.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tests::{
    App, Grant, PASSWORD, Reply, Shape, SharedWorld, StubServer, Tokens, User, World, claims, eventually,
    items, on_every_shape, run_concurrently,
};

/// Signs in by `POST /login` in a browser with the session of `former`.
async fn sign_in_over(former: &User, email: &str) -> Reply {
    former.login(email, PASSWORD).await.expect(200)
}

/// The user with another session.
fn with_sid(world: &World, user: &User, reply: &Reply) -> tests::Caller {
    world.anyone().session(&reply.cookie("sid"), &user.csrf)
}

/// The session of the caller, as `GET /me/sessions` has it.
async fn current(caller: &tests::Caller) -> Value {
    let sessions = items(&caller.get("/me/sessions").await.expect(200));
    let current = sessions.into_iter().find(|session| session["current"] == true);
    current.unwrap()
}

async fn expect_dead(world: &World, user: &User) {
    let caller: &tests::Caller = user;
    for api in world.at_each_api(caller) {
        api.get("/me").await.expect_error(401, "unauthenticated");
    }
}

/// Waits until the app was told about the end of a session. Returns the claims of all logout tokens that it
/// got.
async fn told(server: &StubServer) -> Vec<Value> {
    eventually("the app was not told", async || !server.received().is_empty()).await;
    let token = |body: &str| claims(body.strip_prefix("logout_token=").unwrap());
    server
        .received()
        .iter()
        .map(|request| token(&request.body))
        .collect()
}

struct Given {
    app: App,
    tokens: Tokens,
    code: Grant,
}

/// Returns the tokens that a first-party app got in the session of a user, and a code that it has not
/// exchanged yet.
async fn given(world: &World, server: &StubServer, user: &User) -> Given {
    let app = world.app().first_party();
    let app = app.option(&["--backchannel-logout-uri", &server.url]).register();
    Given {
        tokens: app.tokens(user, "openid posts:read").await,
        code: app
            .authorize(&mut user.browser(), user, "openid posts:read")
            .await,
        app,
    }
}

async fn the_same_user_keeps_the_session_under_another_identifier(world: SharedWorld) {
    for by_page in [false, true] {
        let (user, server) = (world.user().await, StubServer::start().await);
        let Given { app, tokens, code } = given(&world, &server, &user).await;
        let before = current(&user).await;
        let new = match by_page {
            false => with_sid(&world, &user, &sign_in_over(&user, &user.email).await),
            true => {
                let mut browser = user.browser();
                let form = browser.open("/forgot").await;
                let fields = [
                    ("email", user.email.as_str()),
                    ("password", PASSWORD),
                    ("csrf", &user.csrf),
                ];
                let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
                browser
                    .post(&form.url.join("/signin").unwrap(), &fields)
                    .await
                    .reply
                    .expect(303);
                world.anyone().session(browser.cookie("sid").unwrap(), &user.csrf)
            }
        };
        expect_dead(&world, &user).await;
        let after = current(&new).await;
        assert_eq!(after["id"], before["id"]);
        for time in ["created_at", "expires_at"] {
            assert!(
                after[time].as_str() > before[time].as_str(),
                "{time}: {before} {after}"
            );
        }
        // Codes and families live on.
        world.expect_accepted(&tokens.access).await;
        Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
        let exchanged = Tokens::parse(app.exchange(&world.anyone(), &code).await);
        world.expect_accepted(&exchanged.access).await;
        // The app hears of the end of the session only.
        new.post("/logout").await.expect(204);
        assert_eq!(told(&server).await.len(), 1);
        exchanged.expect_revoked(&world, &app).await;
    }
}

async fn a_confirmed_password_gives_a_newer_auth_time(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, app) = (world.user().await, world.app().first_party().register());
    let mut browser = user.browser();
    let id_token = async |browser: &mut tests::Browser, prompt: &str| {
        let request = app.authorization().set("scope", "openid").set("prompt", prompt);
        let grant = request.allow(browser, &user).await;
        let tokens = Tokens::parse(app.exchange(&world.anyone(), &grant).await);
        claims(tokens.reply.json()["id_token"].as_str().unwrap())
    };
    let first = id_token(&mut browser, "").await;
    world.advance(Duration::from_secs(600));
    let second = id_token(&mut browser, "login").await;
    assert_eq!(first["sid"], second["sid"]);
    let time = |claims: &Value| claims["auth_time"].as_i64().unwrap();
    assert_eq!(time(&second), time(&first) + 600);
}

async fn another_person_ends_the_session(world: SharedWorld) {
    let (user, other, server) = (world.user().await, world.user().await, StubServer::start().await);
    let Given { app, tokens, code } = given(&world, &server, &user).await;
    let reply = sign_in_over(&user, &other.email).await;
    let new = with_sid(&world, &user, &reply);
    assert_eq!(new.get("/me").await.expect(200).json()["id"], other.id);
    expect_dead(&world, &user).await;
    let refused = app.exchange(&world.anyone(), &code).await;
    refused.expect_token_error(400, "invalid_grant");
    tokens.expect_revoked(&world, &app).await;
    assert_eq!(told(&server).await[0]["sub"], user.id.to_string());
    other.get("/me").await.expect(200);
}

/// A failed attempt leaves the session as it is.
async fn a_wrong_password_changes_nothing(world: SharedWorld) {
    let user = world.user().await;
    let before = current(&user).await;
    user.login(&user.email, "not the password").await.expect(401);
    assert_eq!(current(&user).await["id"], before["id"]);
}

/// Two tabs submit their old forms at once. One of them renews the session, the others start sessions of
/// their own.
async fn of_concurrent_sign_ins_one_renews_the_session(world: SharedWorld) {
    const N: usize = 4;
    for _ in 0..3 {
        let (user, server) = (world.user().await, StubServer::start().await);
        let Given { tokens, .. } = given(&world, &server, &user).await;
        let before = current(&user).await["id"].clone();
        let replies = run_concurrently(N, |_| {
            let login = user.login(&user.email, PASSWORD);
            async move { login.await.expect(200) }
        })
        .await;
        expect_dead(&world, &user).await;
        let mut ids = BTreeSet::new();
        for reply in &replies {
            let session = current(&with_sid(&world, &user, reply)).await;
            ids.insert(session["id"].as_i64().unwrap());
        }
        assert_eq!(ids.len(), N);
        assert!(ids.contains(&before.as_i64().unwrap()), "{before} {ids:?}");
        world.expect_accepted(&tokens.access).await;
        assert!(server.received().is_empty());
    }
}

/// Of a sign-in and a logout at once, either comes first: the former identifier is dead, and the tokens live
/// only in a session.
async fn a_sign_in_races_with_a_logout(world: SharedWorld) {
    for _ in 0..8 {
        let (user, server) = (world.user().await, StubServer::start().await);
        let Given { tokens, .. } = given(&world, &server, &user).await;
        let before = current(&user).await["id"].clone();
        let replies = run_concurrently(2, |n| {
            let call = match n {
                0 => user.login(&user.email, PASSWORD),
                _ => user.post("/logout"),
            };
            async move { call.await }
        })
        .await;
        expect_dead(&world, &user).await;
        let new = with_sid(&world, &user, &replies[0]);
        let is_alive = new.get("/me").await.status == 200;
        let is_renewed = is_alive && current(&new).await["id"] == before;
        if is_renewed {
            world.expect_accepted(&tokens.access).await;
        } else {
            world.expect_revoked_soon(&tokens.access).await;
        }
    }
}

/// A session that has ended gives nothing to the next one.
async fn a_session_that_was_signed_out_is_not_renewed(world: SharedWorld) {
    let user = world.user().await;
    let id = current(&user).await["id"].clone();
    user.post("/logout").await.expect(204);
    let next = with_sid(&world, &user, &sign_in_over(&user, &user.email).await);
    assert_ne!(current(&next).await["id"], id);
}

/// A session that was unused for too long asks for another sign-in, which ends nothing: the apps were in use
/// meanwhile.
async fn a_session_that_was_unused_for_too_long_is_renewed(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (user, server) = (world.user().await, StubServer::start().await);
    let id = current(&user).await["id"].clone();
    let Given { app, tokens, .. } = given(&world, &server, &user).await;
    world.advance(Duration::from_secs(3601));
    user.get("/me").await.expect_error(401, "unauthenticated");
    let refreshed = Tokens::parse(app.refresh(&world.anyone(), &tokens.refresh).await);
    let next = with_sid(&world, &user, &sign_in_over(&user, &user.email).await);
    assert_eq!(current(&next).await["id"], id);
    world.expect_accepted(&refreshed.access).await;
    let refreshed = Tokens::parse(app.refresh(&world.anyone(), &refreshed.refresh).await);
    // The app hears of the end of the session only.
    next.post("/logout").await.expect(204);
    assert_eq!(told(&server).await.len(), 1);
    refreshed.expect_revoked(&world, &app).await;
}

/// A renewed session lives as long as a new one.
async fn a_renewed_session_begins_its_lifetime_anew(shape: Shape) {
    let setup = World::builder(shape).clock().flag("--session-max", "2h");
    let world = setup.flag("--session-idle", "2h").start().await;
    let user = world.user().await;
    world.advance(Duration::from_secs(7000));
    let json = json!({ "email": user.email, "password": PASSWORD });
    let reply = user.post("/login").json(&json).await.expect(200);
    world.advance(Duration::from_secs(7000));
    let new = with_sid(&world, &user, &reply);
    new.get("/me").await.expect(200);
    world.advance(Duration::from_secs(201));
    new.get("/me").await.expect_error(401, "unauthenticated");
}

on_every_shape!(
    the_same_user_keeps_the_session_under_another_identifier,
    a_confirmed_password_gives_a_newer_auth_time,
    another_person_ends_the_session,
    a_wrong_password_changes_nothing,
    of_concurrent_sign_ins_one_renews_the_session,
    a_sign_in_races_with_a_logout,
    a_session_that_was_signed_out_is_not_renewed,
    a_session_that_was_unused_for_too_long_is_renewed,
    a_renewed_session_begins_its_lifetime_anew,
);
