//! Sessions: the cookie, their creation and their end.

mod renewal;

use serde_json::json;
use std::time::Duration;
use storage::fetch_one;
use tests::{
    PASSWORD, Reply, Shape, SharedWorld, StubServer, User, World, claims, eventually, items, on_every_shape,
    run_concurrently,
};

/// Uses the session and waits until the use is recorded, which happens asynchronously.
async fn use_session(world: &World, user: &User) {
    user.get("/me").await.expect(200);
    let (db, recorded) = (
        world.db().await,
        "SELECT COUNT(*) FROM sessions WHERE user_id = $1 AND last_seen_at = $2",
    );
    while fetch_one!(db.reader(), (i64,), recorded, user.id, world.now()).unwrap() == (0,) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn a_user_has_at_most_a_hundred_sessions(world: SharedWorld) {
    let ann = world.user().await;
    let server = StubServer::start().await;
    let logout_uri = format!("{}/logout", server.url);
    let ours = world.app().first_party();
    let ours = ours.option(&["--backchannel-logout-uri", &logout_uri]).register();
    let theirs = world.app().register();
    let tokens = ours.tokens(&ann, "openid posts:read").await;
    let of_third = theirs.tokens(&ann, "posts:read").await;
    let second = world.start_sessions(&ann, 99).await.swap_remove(0);
    ann.get("/me").await.expect(200);
    let statuses = run_concurrently(4, |_| {
        let login = world.anyone().login(&ann.email, PASSWORD);
        async move { login.await.status }
    });
    assert_eq!(statuses.await, [200; 4]);
    for ended in [&ann, &second] {
        ended.get("/me").await.expect_error(401, "unauthenticated");
    }
    let newest = world.log_in(&ann.email, PASSWORD).await;
    assert_eq!(items(&newest.get("/me/sessions").await.expect(200)).len(), 100);
    let (db, count) = (
        world.db().await,
        "SELECT COUNT(*) FROM sessions WHERE user_id = $1",
    );
    assert_eq!(fetch_one!(db.reader(), (i64,), count, ann.id).unwrap(), (100,));
    let events = "SELECT COUNT(*) FROM security_events WHERE user_id = $1 AND name = 'authn_session_revoked'";
    assert_eq!(fetch_one!(db.reader(), (i64,), events, ann.id).unwrap(), (5,));
    tokens.expect_revoked(&world, &ours).await;
    world.expect_accepted(&of_third.access).await;
    eventually("the app of the oldest session was not told", async || {
        !server.received().is_empty()
    })
    .await;
    let received = server.received();
    assert_eq!(received.len(), 1);
    let logout_token = received[0].body.strip_prefix("logout_token=").unwrap();
    assert_eq!(claims(logout_token)["sub"], ann.id.to_string());
}

async fn the_session_that_is_unused_for_the_longest_time_makes_room(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let oldest = world.user().await;
    let second = world.start_sessions(&oldest, 1).await.swap_remove(0);
    world.advance(Duration::from_secs(120));
    use_session(&world, &oldest).await;
    world.start_sessions(&oldest, 98).await;
    world.log_in(&oldest.email, PASSWORD).await;
    second.get("/me").await.expect_error(401, "unauthenticated");
    oldest.get("/me").await.expect(200);
    assert_eq!(items(&oldest.get("/me/sessions").await.expect(200)).len(), 100);
}

async fn the_session_cookie_is_hidden_from_scripts_and_other_sites(world: SharedWorld) {
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let reply = world.anyone().post("/login").json(&body).await.expect(200);
    let cookie = reply.set_cookie("sid").unwrap().to_owned();
    let attributes: Vec<String> = cookie
        .split(';')
        .skip(1)
        .map(|part| part.trim().to_lowercase())
        .collect();
    for attribute in ["httponly", "secure", "samesite=lax", "path=/", "max-age=43200"] {
        assert!(
            attributes.iter().any(|found| found == attribute),
            "{attribute}: {cookie}"
        );
    }
    assert!(
        !attributes.iter().any(|found| found.starts_with("domain")),
        "{cookie}"
    );
    assert_eq!(reply.cookie("sid").len(), 43, "256 bits in base64url");
    assert!(!reply.text().contains(&reply.cookie("sid")), "{reply}");
    assert_eq!(reply.json()["email"], json!(ann.email));
    let me = ann.get("/me").await.expect(200);
    assert_eq!(me.header("cache-control"), "no-store");
    assert_eq!(me.json()["auth"]["method"], "session");
}

async fn every_login_creates_a_new_session(world: SharedWorld) {
    let victim = world.user().await;
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    for presented in [ann.sid.as_str(), "chosen-by-an-attacker", "", &victim.sid] {
        let caller = world.anyone().session(presented, &ann.csrf);
        let sid = caller.post("/login").json(&body).await.expect(200).cookie("sid");
        assert_ne!(sid, presented);
        let after = world
            .anyone()
            .session(&sid, &ann.csrf)
            .get("/me")
            .await
            .expect(200)
            .json();
        assert_eq!(after["id"], json!(ann.id));
        world
            .anyone()
            .session(presented, &ann.csrf)
            .get("/me")
            .await
            .expect_error(401, "unauthenticated");
    }
}

/// Expects that the response removes the session cookie of the host, and those for these domains.
#[track_caller]
fn expect_removals(reply: &Reply, domains: &[&str]) {
    let cookies = reply.headers.get_all("set-cookie").iter();
    let lines: Vec<&str> = cookies.map(|line| line.to_str().unwrap()).collect();
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("sid=; Path=/; ") && line.contains("; Max-Age=0;")),
        "{lines:?}"
    );
    let found: Vec<Option<&str>> = lines
        .iter()
        .map(|line| {
            line.split("; ")
                .find_map(|attribute| attribute.strip_prefix("Domain="))
        })
        .collect();
    let expected = [None].into_iter().chain(domains.iter().copied().map(Some));
    assert_eq!(found, expected.collect::<Vec<_>>(), "{reply}");
}

async fn two_session_cookies_are_rejected(world: SharedWorld) {
    let (ann, bob) = (world.user().await, world.user().await);
    for cookies in [
        format!("sid={}; sid={}", ann.sid, bob.sid),
        format!("sid={}; sid={}", ann.sid, ann.sid),
        format!("sid={}; sid=", ann.sid),
    ] {
        let reply = world.anyone().cookies(&cookies).get("/me").await;
        let reply = reply.expect_error(401, "unauthenticated");
        expect_removals(&reply, &[]);
        let api = world.at_each_api(&world.anyone()).remove(0);
        let behind_name = api.cookies(&cookies).with("host", "id.blog.test");
        let reply = behind_name.get("/me").await.expect_error(401, "unauthenticated");
        expect_removals(&reply, &["id.blog.test", "blog.test"]);
    }
    let lines = world
        .anyone()
        .cookies(&format!("sid={}", ann.sid))
        .with("cookie", &format!("sid={}", bob.sid));
    lines.get("/me").await.expect_error(401, "unauthenticated");
}

async fn malformed_session_cookies_are_rejected(world: SharedWorld) {
    world.user().await;
    for sid in [
        "",
        "x",
        "\"",
        "=",
        "a=b",
        "' OR 1=1 --",
        &"x".repeat(5_000),
        "%00",
        "é",
    ] {
        let reply = world
            .anyone()
            .get("/me")
            .header("cookie", &format!("sid={sid}"))
            .await;
        reply.expect_error(401, "unauthenticated");
    }
}

async fn logout_ends_only_its_own_session(world: SharedWorld) {
    let ann = world.user().await;
    let elsewhere = world.log_in(&ann.email, PASSWORD).await;
    let reply = ann.post("/logout").await.expect(204);
    assert!(reply.set_cookie("sid").unwrap().contains("Max-Age=0"), "{reply}");
    ann.get("/me").await.expect_error(401, "unauthenticated");
    elsewhere.get("/me").await.expect(200);
}

async fn sessions_expire_an_hour_after_their_last_use(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (used, unused) = (world.user().await, world.user().await);
    for _ in 0..3 {
        world.advance(Duration::from_secs(1_200));
        use_session(&world, &used).await;
    }
    world.advance(Duration::from_secs(1));
    unused.get("/me").await.expect_error(401, "unauthenticated");
    used.get("/me").await.expect(200);
    world.advance(Duration::from_secs(3_601));
    used.get("/me").await.expect_error(401, "unauthenticated");
}

async fn sessions_expire_twelve_hours_after_sign_in(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let ann = world.user().await;
    for _ in 0..23 {
        world.advance(Duration::from_secs(1_800));
        use_session(&world, &ann).await;
    }
    world.advance(Duration::from_secs(1_799));
    ann.get("/me").await.expect(200);
    world.advance(Duration::from_secs(2));
    ann.get("/me").await.expect_error(401, "unauthenticated");
}

async fn session_lifetimes_are_configurable(shape: Shape) {
    let setup = World::builder(shape)
        .clock()
        .flag("--session-idle", "5m")
        .env("LATCHKEY_SESSION_MAX", "8m");
    let world = setup.start().await;
    let (ann, bob) = (world.sign_up_and_log_in().await, world.sign_up_and_log_in().await);
    world.advance(Duration::from_secs(299));
    use_session(&world, &ann).await;
    world.advance(Duration::from_secs(2));
    bob.get("/me").await.expect_error(401, "unauthenticated");
    world.advance(Duration::from_secs(180));
    ann.get("/me").await.expect_error(401, "unauthenticated");
}

async fn sign_in_with_two_session_cookies_is_rejected(world: SharedWorld) {
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let cookies = format!("sid={}; sid=x; csrf={}", ann.sid, ann.csrf);
    let caller = world.anyone().cookies(&cookies).with("x-csrf-token", &ann.csrf);
    let reply = caller.post("/login").json(&body).await;
    reply.expect_error(401, "unauthenticated");
}

async fn pages_reject_two_session_cookies(world: SharedWorld) {
    let (ann, app) = (world.user_with_role("admin").await, world.app().register());
    let cookies = format!("sid={}; sid=x; csrf={}", ann.sid, ann.csrf);
    let caller = world.anyone().cookies(&cookies);
    let expect_refused = |reply: Reply| {
        let reply = reply.expect(400);
        let is_page = reply.header("content-type").starts_with("text/html");
        assert!(is_page && reply.text().contains("two session cookies"), "{reply}");
        expect_removals(&reply, &[]);
    };
    let authorization = app.authorization().path();
    for path in [
        "/signin",
        "/account",
        "/password",
        "/consent?flow=x",
        "/signout",
        &authorization,
    ] {
        expect_refused(caller.get(path).await);
    }
    let forms = [
        (
            "/signin",
            vec![("email", ann.email.as_str()), ("password", PASSWORD)],
        ),
        (
            "/signup",
            vec![("email", "somebody.else@example.org"), ("password", PASSWORD)],
        ),
        ("/password", vec![("new_password", "another good password")]),
        ("/consent", vec![("flow", "x"), ("decision", "allow")]),
        ("/signout/confirmation", vec![]),
    ];
    for (path, mut fields) in forms {
        fields.push(("csrf", &ann.csrf));
        expect_refused(caller.post(path).form(&fields).await);
    }
    let refused = caller.get("/admin/users").await;
    refused.expect_error(401, "unauthenticated");
    ann.get("/me").await.expect(200);
}

on_every_shape!(
    pages_reject_two_session_cookies,
    sign_in_with_two_session_cookies_is_rejected,
    the_session_cookie_is_hidden_from_scripts_and_other_sites,
    every_login_creates_a_new_session,
    two_session_cookies_are_rejected,
    malformed_session_cookies_are_rejected,
    logout_ends_only_its_own_session,
    a_user_has_at_most_a_hundred_sessions,
    the_session_that_is_unused_for_the_longest_time_makes_room,
    sessions_expire_an_hour_after_their_last_use,
    sessions_expire_twelve_hours_after_sign_in,
    session_lifetimes_are_configurable,
);
