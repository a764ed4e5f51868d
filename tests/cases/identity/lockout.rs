//! Five wrong passwords in fifteen minutes lock out an e-mail address from a client address for fifteen
//! minutes.

use serde_json::json;
use std::time::Duration;
use storage::fetch_one;
use tests::{
    Caller, PASSWORD, Reply, Shape, SharedWorld, World, WorldBuilder, on_every_shape, run_concurrently,
    status_counts,
};

const WRONG: &str = "not the password";
const WINDOW: Duration = Duration::from_secs(900);
const SECOND: Duration = Duration::from_secs(1);

/// Signs in with a wrong password, this many times.
async fn fail(caller: &Caller, email: &str, times: usize) {
    for _ in 0..times {
        caller.login(email, WRONG).await.expect(401);
    }
}

async fn expect_locked(caller: &Caller, email: &str, password: &str) -> Reply {
    let reply = caller
        .login(email, password)
        .await
        .expect_error(429, "login_locked");
    let seconds: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{reply}");
    reply
}

async fn five_failures_lock_out_even_the_right_password(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, anyone) = (world.user().await, world.anyone());
    fail(&anyone, &ann.email, 5).await;
    let locked = expect_locked(&anyone, &ann.email, PASSWORD).await;
    assert_eq!(locked.header("retry-after"), "900");
    world.advance(WINDOW - SECOND);
    expect_locked(&anyone, &ann.email, PASSWORD).await;
    expect_locked(&anyone, &ann.email, WRONG).await;
    world.advance(2 * SECOND);
    anyone.login(&ann.email, PASSWORD).await.expect(200);
}

async fn the_window_slides(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, anyone) = (world.user().await, world.anyone());
    fail(&anyone, &ann.email, 4).await;
    world.advance(WINDOW + SECOND);
    fail(&anyone, &ann.email, 4).await;
    anyone.login(&ann.email, PASSWORD).await.expect(200);
}

async fn a_successful_sign_in_clears_the_failures(world: SharedWorld) {
    let (ann, anyone) = (world.user().await, world.anyone());
    for _ in 0..2 {
        fail(&anyone, &ann.email, 4).await;
        anyone.login(&ann.email, PASSWORD).await.expect(200);
    }
}

async fn known_and_unknown_addresses_are_locked_alike(shape: Shape) {
    let world = World::builder(shape).clock().start().await;
    let (ann, anyone) = (world.user().await, world.anyone());
    fail(&anyone, &ann.email, 5).await;
    fail(&anyone, "nobody@example.org", 5).await;
    let known = expect_locked(&anyone, &ann.email, WRONG).await;
    let unknown = expect_locked(&anyone, "nobody@example.org", WRONG).await;
    assert_eq!(known.comparable_parts(), unknown.comparable_parts());
    let bob = world.user().await;
    anyone.login(&bob.email, PASSWORD).await.expect(200);
}

async fn spellings_of_an_email_share_one_counter(world: SharedWorld) {
    let (ann, anyone) = (world.user().await, world.anyone());
    let spellings = [
        ann.email.clone(),
        ann.email.to_uppercase(),
        format!(" {} ", ann.email),
    ];
    for email in spellings.iter().cycle().take(5) {
        fail(&anyone, email, 1).await;
    }
    expect_locked(&anyone, &ann.email, PASSWORD).await;
}

async fn forwarded_addresses_from_untrusted_peers_are_ignored(world: SharedWorld) {
    let (ann, anyone) = (world.user().await, world.anyone());
    for n in 0..5 {
        let elsewhere = anyone.with("x-forwarded-for", &format!("198.51.100.{n}"));
        let elsewhere = elsewhere
            .with("forwarded", &format!("for=198.51.100.{n}"))
            .with("x-real-ip", "198.51.100.9");
        fail(&elsewhere, &ann.email, 1).await;
    }
    expect_locked(
        &anyone.with("x-forwarded-for", "198.51.100.77"),
        &ann.email,
        PASSWORD,
    )
    .await;
}

async fn forwarded_addresses_from_trusted_proxies_are_used(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.0/8")
        .start()
        .await;
    let (ann, anyone) = (world.user().await, world.anyone());
    let attacker = anyone.with("x-forwarded-for", "198.51.100.1");
    fail(&attacker, &ann.email, 5).await;
    expect_locked(&attacker, &ann.email, PASSWORD).await;
    let forged = anyone.with("x-forwarded-for", "203.0.113.5, 198.51.100.1");
    expect_locked(&forged, &ann.email, PASSWORD).await;
    anyone
        .with("x-forwarded-for", "198.51.100.2")
        .login(&ann.email, PASSWORD)
        .await
        .expect(200);
}

/// Some proxies add the port, and IPv6 addresses then have brackets. Others send the standardized header.
async fn forwarded_addresses_may_have_ports_and_be_in_either_header(shape: Shape) {
    let world = World::builder(shape)
        .without_nginx()
        .flag("--trusted-proxies", "127.0.0.0/8")
        .start()
        .await;
    let email = world.fresh_email();
    for (header, value, address) in [
        ("x-forwarded-for", "203.0.113.7:51234", "203.0.113.7"),
        ("x-forwarded-for", "9.9.9.9, [2001:db8::1]:443", "2001:db8::1"),
        ("x-forwarded-for", "203.0.113.8:80, 127.0.0.1:5000", "203.0.113.8"),
        (
            "forwarded",
            "for=203.0.113.9;proto=https;by=127.0.0.1",
            "203.0.113.9",
        ),
        (
            "forwarded",
            "for=9.9.9.9, For=\"[2001:db8:0:1::2]:4711\"",
            "2001:db8:0:1::2",
        ),
        ("forwarded", "for=_hidden", "127.0.0.1"),
    ] {
        let refused = world
            .anyone()
            .with(header, value)
            .login(&email, WRONG)
            .await
            .expect(401);
        let lines = world.log_lines().into_iter();
        let mut of_request = lines.filter(|line| line["traceId"] == refused.correlation_id());
        assert_eq!(
            of_request.next().unwrap()["address"],
            address,
            "{header}: {value}"
        );
    }
}

/// The warnings about proxies that are not trusted, after three requests to each process with this header.
async fn warnings_of_untrusted_proxies(world: &World, header: &str) -> usize {
    for api in world.at_each_api(&world.anyone().with(header, "for=198.51.100.1")) {
        for _ in 0..3 {
            api.get("/livez").await;
        }
    }
    let log = world.log();
    log.lines()
        .filter(|line| line.contains("TRUSTED_PROXIES"))
        .count()
}

async fn an_untrusted_proxy_is_warned_of_once_in_production(shape: Shape) {
    let in_production = || {
        World::builder(shape)
            .without_nginx()
            .flag("--base-url", "https://id.test")
    };
    for header in ["x-forwarded-for", "forwarded"] {
        let world = in_production().start().await;
        let warnings = warnings_of_untrusted_proxies(&world, header).await;
        assert_eq!(warnings, world.api_ports().len(), "{header}");
    }
    let trusting = in_production()
        .flag("--trusted-proxies", "127.0.0.0/8")
        .start()
        .await;
    assert_eq!(
        warnings_of_untrusted_proxies(&trusting, "x-forwarded-for").await,
        0
    );
    let on_loopback = World::builder(shape).without_nginx().start().await;
    assert_eq!(
        warnings_of_untrusted_proxies(&on_loopback, "x-forwarded-for").await,
        0
    );
}

async fn an_ipv6_network_counts_as_one_address(shape: Shape) {
    let world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await;
    let (ann, anyone) = (world.user().await, world.anyone());
    for n in 1..=5 {
        fail(
            &anyone.with("x-forwarded-for", &format!("2001:db8:1:2:{n}::{n}")),
            &ann.email,
            1,
        )
        .await;
    }
    expect_locked(
        &anyone.with("x-forwarded-for", "2001:db8:1:2::ffff"),
        &ann.email,
        PASSWORD,
    )
    .await;
    let elsewhere = anyone.with("x-forwarded-for", "2001:db8:1:3::1");
    elsewhere.login(&ann.email, PASSWORD).await.expect(200);
}

async fn the_sign_in_page_shares_the_counter(world: SharedWorld) {
    let (ann, app) = world.user_and_app().await;
    fail(&world.anyone(), &ann.email, 5).await;
    let mut browser = world.browser();
    let first = browser.open(&app.authorization().path()).await;
    let page = browser.open(first.location().unwrap().as_str()).await;
    let answer = browser
        .submit(&page, &[("email", &ann.email), ("password", PASSWORD)])
        .await;
    assert_eq!(answer.reply.status, 429, "{}", answer.reply);
    let text = answer.visible_text();
    assert!(text.contains("Try again in 15 minutes, or"), "{text}");
    assert_eq!(browser.cookie("sid"), None);
}

async fn password_changes_share_the_counter(world: SharedWorld) {
    let ann = world.user().await;
    let change = |current: &str| {
        let body = json!({ "current_password": current, "new_password": "a new good password" });
        ann.call("PUT", "/me/password").json(&body)
    };
    for _ in 0..5 {
        change(WRONG)
            .await
            .expect_validation_errors(&["/current_password"]);
    }
    change(PASSWORD).await.expect_error(429, "login_locked");
    expect_locked(&world.anyone(), &ann.email, PASSWORD).await;
}

async fn a_hundred_concurrent_failures_verify_five_passwords(mut world: World) {
    for email in [world.user().await.email, world.fresh_email()] {
        let anyone = world.anyone();
        let replies = run_concurrently(100, |_| anyone.login(&email, WRONG).into_future()).await;
        let counts = status_counts(&replies);
        let verified = counts.get(&401).copied().unwrap_or_default();
        assert!(
            verified <= 5 && counts.get(&429) == Some(&(100 - verified)),
            "{counts:?}"
        );
    }
    world.stop().await;
    let count = "SELECT CAST(SUM(count) AS BIGINT) FROM security_events WHERE name = 'authn_login_fail'";
    let (events,) = fetch_one!(world.db().await.reader(), (i64,), count).unwrap();
    assert!(events <= 10, "{events} passwords were verified");
}

/// A world with low limits: of failures per account in an hour, and per address in fifteen minutes.
fn throttled(shape: Shape, account: usize, address: usize) -> WorldBuilder {
    World::builder(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--login-failures-account", &account.to_string())
        .flag("--login-failures-address", &address.to_string())
}

fn at(world: &World, address: &str) -> Caller {
    world.anyone().with("x-forwarded-for", address)
}

async fn failures_from_one_address_are_throttled_across_accounts(shape: Shape) {
    let world = throttled(shape, 100, 6).start().await;
    let (ann, here) = (world.user().await, at(&world, "2001:db8:1:2::1"));
    fail(&here, &ann.email, 3).await;
    fail(&here, "nobody@example.org", 2).await;
    // A success clears only the lockout.
    here.login(&ann.email, PASSWORD).await.expect(200);
    fail(&here, "not even an e-mail", 1).await;
    let neighbor = at(&world, "2001:db8:1:2::ffff");
    for email in [ann.email.as_str(), "somebody@example.org", "no e-mail either"] {
        assert_eq!(
            expect_locked(&neighbor, email, PASSWORD)
                .await
                .header("retry-after"),
            "900"
        );
    }
    at(&world, "2001:db8:1:3::1")
        .login(&ann.email, PASSWORD)
        .await
        .expect(200);
    world.advance(WINDOW + SECOND);
    neighbor.login(&ann.email, PASSWORD).await.expect(200);
}

async fn failures_of_one_account_are_throttled_except_from_known_networks(shape: Shape) {
    let world = throttled(shape, 6, 100).start().await;
    let (ann, home) = (world.user().await, at(&world, "203.0.113.1"));
    home.login(&ann.email, PASSWORD).await.expect(200);
    for email in [ann.email.as_str(), "nobody@example.org"] {
        for n in 0..6 {
            fail(&at(&world, &format!("198.51.100.{n}")), email, 1).await;
        }
    }
    let elsewhere = at(&world, "192.0.2.1");
    let known = expect_locked(&elsewhere, &ann.email, PASSWORD).await;
    let unknown = expect_locked(&elsewhere, "nobody@example.org", PASSWORD).await;
    assert_eq!(known.comparable_parts(), unknown.comparable_parts());
    assert_eq!(known.header("retry-after"), "3600");
    home.login(&ann.email, PASSWORD).await.expect(200);
    fail(&home, &ann.email, 5).await;
    expect_locked(&home, &ann.email, PASSWORD).await;
    world.advance(Duration::from_secs(3601));
    elsewhere.login(&ann.email, PASSWORD).await.expect(200);
}

async fn concurrent_failures_of_an_address_stay_within_its_limit(shape: Shape) {
    let setup = throttled(shape, 100, 10).flag("--argon2-permits", "8");
    let world = setup.start().await;
    let here = at(&world, "198.51.100.1");
    let replies = run_concurrently(60, |n| {
        here.login(&format!("nobody{n}@example.org"), WRONG)
            .may_fail()
            .into_future()
    })
    .await;
    let counts = status_counts(&replies);
    let verified = counts.get(&401).copied().unwrap_or_default();
    assert!(verified <= 10, "{counts:?}");
    assert!(
        counts.keys().all(|status| [401, 429, 503].contains(status)),
        "{counts:?}"
    );
}

async fn concurrent_successful_sign_ins_do_not_lock_out(shape: Shape) {
    // More than the five attempts that may be undecided at once, with enough hashing permits for a busy
    // machine.
    let world = World::builder(shape).flag("--argon2-permits", "8").start().await;
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let anyone = world.anyone();
    let replies = run_concurrently(8, |_| {
        let (anyone, body) = (anyone.clone(), body.clone());
        async move { anyone.post("/login").json(&body).await }
    })
    .await;
    assert_eq!(
        status_counts(&replies).get(&200),
        Some(&8),
        "{:?}",
        status_counts(&replies)
    );
}

on_every_shape!(
    concurrent_successful_sign_ins_do_not_lock_out,
    failures_from_one_address_are_throttled_across_accounts,
    failures_of_one_account_are_throttled_except_from_known_networks,
    concurrent_failures_of_an_address_stay_within_its_limit,
    five_failures_lock_out_even_the_right_password,
    the_window_slides,
    a_successful_sign_in_clears_the_failures,
    known_and_unknown_addresses_are_locked_alike,
    spellings_of_an_email_share_one_counter,
    forwarded_addresses_from_untrusted_peers_are_ignored,
    forwarded_addresses_from_trusted_proxies_are_used,
    forwarded_addresses_may_have_ports_and_be_in_either_header,
    an_untrusted_proxy_is_warned_of_once_in_production,
    an_ipv6_network_counts_as_one_address,
    the_sign_in_page_shares_the_counter,
    password_changes_share_the_counter,
    a_hundred_concurrent_failures_verify_five_passwords,
);
