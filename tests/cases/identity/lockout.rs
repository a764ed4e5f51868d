//! Five wrong passwords in fifteen minutes lock an identity and address out for fifteen minutes.

use serde_json::json;
use shared::fetch_one;
use std::time::Duration;
use tests::{Call, Caller, PASSWORD, Reply, Setup, Shape, World, all_at_once, counts, on_every_shape};

const WRONG: &str = "not the password";
const WINDOW: Duration = Duration::from_secs(900);
const SECOND: Duration = Duration::from_secs(1);

fn login(caller: &Caller, email: &str, password: &str) -> Call {
    caller
        .post("/login")
        .json(&json!({ "email": email, "password": password }))
}

async fn fail(caller: &Caller, email: &str, times: usize) {
    for _ in 0..times {
        login(caller, email, WRONG).await.expect(401);
    }
}

async fn is_locked(caller: &Caller, email: &str, password: &str) -> Reply {
    let reply = login(caller, email, password)
        .await
        .expect_error(429, "login_locked");
    let seconds: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=3600).contains(&seconds), "{reply}");
    reply
}

async fn the_fifth_failure_locks_even_with_the_right_password(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    fail(&anyone, &ann.email, 5).await;
    let locked = is_locked(&anyone, &ann.email, PASSWORD).await;
    assert_eq!(locked.header("retry-after"), "900");
    world.advance(WINDOW - SECOND);
    is_locked(&anyone, &ann.email, PASSWORD).await;
    is_locked(&anyone, &ann.email, WRONG).await;
    world.advance(2 * SECOND);
    login(&anyone, &ann.email, PASSWORD).await.expect(200);
}

async fn the_window_slides(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    fail(&anyone, &ann.email, 4).await;
    world.advance(WINDOW + SECOND);
    fail(&anyone, &ann.email, 4).await;
    login(&anyone, &ann.email, PASSWORD).await.expect(200);
}

async fn a_success_clears_the_count(world: World) {
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    for _ in 0..2 {
        fail(&anyone, &ann.email, 4).await;
        login(&anyone, &ann.email, PASSWORD).await.expect(200);
    }
}

async fn known_and_unknown_addresses_are_locked_alike(shape: Shape) {
    let world = World::of(shape).clock().start().await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    fail(&anyone, &ann.email, 5).await;
    fail(&anyone, "nobody@example.org", 5).await;
    let known = is_locked(&anyone, &ann.email, WRONG).await;
    let unknown = is_locked(&anyone, "nobody@example.org", WRONG).await;
    assert_eq!(known.anonymised(), unknown.anonymised());
    let bob = world.sign_up().await;
    login(&anyone, &bob.email, PASSWORD).await.expect(200);
}

async fn an_address_has_one_count_however_it_is_written(world: World) {
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    let spellings = [
        ann.email.clone(),
        ann.email.to_uppercase(),
        format!(" {} ", ann.email),
    ];
    for email in spellings.iter().cycle().take(5) {
        fail(&anyone, email, 1).await;
    }
    is_locked(&anyone, &ann.email, PASSWORD).await;
}

async fn forwarded_addresses_do_not_count_from_just_anyone(world: World) {
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    for n in 0..5 {
        let elsewhere = anyone.with("x-forwarded-for", &format!("198.51.100.{n}"));
        let elsewhere = elsewhere
            .with("forwarded", &format!("for=198.51.100.{n}"))
            .with("x-real-ip", "198.51.100.9");
        fail(&elsewhere, &ann.email, 1).await;
    }
    is_locked(
        &anyone.with("x-forwarded-for", "198.51.100.77"),
        &ann.email,
        PASSWORD,
    )
    .await;
}

async fn forwarded_addresses_count_from_a_trusted_proxy(shape: Shape) {
    let world = World::of(shape)
        .flag("--trusted-proxies", "127.0.0.0/8")
        .start()
        .await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    let attacker = anyone.with("x-forwarded-for", "198.51.100.1");
    fail(&attacker, &ann.email, 5).await;
    is_locked(&attacker, &ann.email, PASSWORD).await;
    let forged = anyone.with("x-forwarded-for", "203.0.113.5, 198.51.100.1");
    is_locked(&forged, &ann.email, PASSWORD).await;
    login(
        &anyone.with("x-forwarded-for", "198.51.100.2"),
        &ann.email,
        PASSWORD,
    )
    .await
    .expect(200);
}

async fn neighbours_of_one_ipv6_network_are_one_address(shape: Shape) {
    let world = World::of(shape)
        .flag("--trusted-proxies", "127.0.0.1")
        .start()
        .await;
    let (ann, anyone) = (world.sign_up().await, world.anyone());
    for n in 1..=5 {
        fail(
            &anyone.with("x-forwarded-for", &format!("2001:db8:1:2:{n}::{n}")),
            &ann.email,
            1,
        )
        .await;
    }
    is_locked(
        &anyone.with("x-forwarded-for", "2001:db8:1:2::ffff"),
        &ann.email,
        PASSWORD,
    )
    .await;
    let elsewhere = anyone.with("x-forwarded-for", "2001:db8:1:3::1");
    login(&elsewhere, &ann.email, PASSWORD).await.expect(200);
}

async fn the_sign_in_page_shares_the_count(world: World) {
    let (ann, app) = world.person_and_app().await;
    fail(&world.anyone(), &ann.email, 5).await;
    let mut browser = world.browser();
    let first = browser.open(&app.authorization().path()).await;
    let page = browser.open(first.location().unwrap().as_str()).await;
    let answer = browser
        .submit(&page, &[("email", &ann.email), ("password", PASSWORD)])
        .await;
    assert_eq!(answer.reply.status, 429, "{}", answer.reply);
    assert_eq!(browser.cookie("sid"), None);
}

async fn a_change_of_password_shares_the_count(world: World) {
    let ann = world.sign_up().await;
    let change = |current: &str| {
        let body = json!({ "current_password": current, "new_password": "a new good password" });
        ann.call("PUT", "/me/password").json(&body)
    };
    for _ in 0..5 {
        change(WRONG).await.expect_faults(&["/current_password"]);
    }
    change(PASSWORD).await.expect_error(429, "login_locked");
    is_locked(&world.anyone(), &ann.email, PASSWORD).await;
}

async fn of_a_hundred_wrong_passwords_at_once_five_are_looked_at(world: World) {
    for email in [world.sign_up().await.email, world.fresh_email()] {
        let anyone = world.anyone();
        let replies = all_at_once(100, |_| login(&anyone, &email, WRONG).into_future()).await;
        let counts = counts(&replies);
        let verified = counts.get(&401).copied().unwrap_or_default();
        assert!(
            verified <= 5 && counts.get(&429) == Some(&(100 - verified)),
            "{counts:?}"
        );
    }
    let count = "SELECT COUNT(*) FROM security_events WHERE name = 'authn_login_fail'";
    let (events,) = fetch_one!(world.db().await.reader(), (i64,), count).unwrap();
    assert!(events <= 10, "{events} passwords were verified");
}

/// So few that a test reaches them: failures of an account an hour, of an address in fifteen minutes.
fn throttled(shape: Shape, account: usize, address: usize) -> Setup {
    World::of(shape)
        .clock()
        .flag("--trusted-proxies", "127.0.0.1")
        .flag("--login-failures-account", &account.to_string())
        .flag("--login-failures-address", &address.to_string())
}

fn at(world: &World, address: &str) -> Caller {
    world.anyone().with("x-forwarded-for", address)
}

async fn failures_from_one_address_are_throttled_whoever_is_meant(shape: Shape) {
    let world = throttled(shape, 100, 6).start().await;
    let (ann, here) = (world.sign_up().await, at(&world, "2001:db8:1:2::1"));
    fail(&here, &ann.email, 3).await;
    fail(&here, "nobody@example.org", 2).await;
    // A success clears the lockout, and nothing else.
    login(&here, &ann.email, PASSWORD).await.expect(200);
    fail(&here, "not even an e-mail", 1).await;
    let neighbour = at(&world, "2001:db8:1:2::ffff");
    for email in [ann.email.as_str(), "somebody@example.org", "no e-mail either"] {
        assert_eq!(
            is_locked(&neighbour, email, PASSWORD).await.header("retry-after"),
            "900"
        );
    }
    login(&at(&world, "2001:db8:1:3::1"), &ann.email, PASSWORD)
        .await
        .expect(200);
    world.advance(WINDOW + SECOND);
    login(&neighbour, &ann.email, PASSWORD).await.expect(200);
}

async fn failures_of_one_account_are_throttled_but_where_its_user_was_before(shape: Shape) {
    let world = throttled(shape, 6, 100).start().await;
    let (ann, home) = (world.sign_up().await, at(&world, "203.0.113.1"));
    login(&home, &ann.email, PASSWORD).await.expect(200);
    for email in [ann.email.as_str(), "nobody@example.org"] {
        for n in 0..6 {
            fail(&at(&world, &format!("198.51.100.{n}")), email, 1).await;
        }
    }
    let elsewhere = at(&world, "192.0.2.1");
    let known = is_locked(&elsewhere, &ann.email, PASSWORD).await;
    let unknown = is_locked(&elsewhere, "nobody@example.org", PASSWORD).await;
    assert_eq!(known.anonymised(), unknown.anonymised());
    assert_eq!(known.header("retry-after"), "3600");
    login(&home, &ann.email, PASSWORD).await.expect(200);
    fail(&home, &ann.email, 5).await;
    is_locked(&home, &ann.email, PASSWORD).await;
    world.advance(Duration::from_secs(3601));
    login(&elsewhere, &ann.email, PASSWORD).await.expect(200);
}

async fn of_a_hundred_identities_at_once_an_address_fails_for_as_many_as_it_may(shape: Shape) {
    let setup = throttled(shape, 100, 10).flag("--argon2-permits", "8");
    let world = setup.start().await;
    let here = at(&world, "198.51.100.1");
    let replies = all_at_once(60, |n| {
        login(&here, &format!("nobody{n}@example.org"), WRONG)
            .may_fail()
            .into_future()
    })
    .await;
    let counts = counts(&replies);
    let verified = counts.get(&401).copied().unwrap_or_default();
    assert!(verified <= 10, "{counts:?}");
    assert!(
        counts.keys().all(|status| [401, 429, 503].contains(status)),
        "{counts:?}"
    );
}

async fn many_right_sign_ins_at_once_lock_nobody_out(shape: Shape) {
    // More than the five attempts that may be undecided at once; hashes enough for a busy machine.
    let world = World::of(shape).flag("--argon2-permits", "8").start().await;
    let ann = world.sign_up().await;
    let body = json!({ "email": ann.email, "password": PASSWORD });
    let anyone = world.anyone();
    let replies = all_at_once(8, |_| {
        let (anyone, body) = (anyone.clone(), body.clone());
        async move { anyone.post("/login").json(&body).await }
    })
    .await;
    assert_eq!(counts(&replies).get(&200), Some(&8), "{:?}", counts(&replies));
}

on_every_shape!(
    many_right_sign_ins_at_once_lock_nobody_out,
    failures_from_one_address_are_throttled_whoever_is_meant,
    failures_of_one_account_are_throttled_but_where_its_user_was_before,
    of_a_hundred_identities_at_once_an_address_fails_for_as_many_as_it_may,
    the_fifth_failure_locks_even_with_the_right_password,
    the_window_slides,
    a_success_clears_the_count,
    known_and_unknown_addresses_are_locked_alike,
    an_address_has_one_count_however_it_is_written,
    forwarded_addresses_do_not_count_from_just_anyone,
    forwarded_addresses_count_from_a_trusted_proxy,
    neighbours_of_one_ipv6_network_are_one_address,
    the_sign_in_page_shares_the_count,
    a_change_of_password_shares_the_count,
    of_a_hundred_wrong_passwords_at_once_five_are_looked_at,
);
