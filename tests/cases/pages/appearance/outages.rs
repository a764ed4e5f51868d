//! The pages of a service that is busy, or that has lost its Redis.

use super::{FAILED, Pictures, SUBMIT, Walk};
use foundation::clock::Timestamp;
use std::time::Duration;
use storage::expiring::{AttemptDecision, ExpiringStore, Window};
use storage::redis::Redis;
use tests::{App, Appearance, CALLBACK, PASSWORD, RedisServer, Shape, User, World};

/// The number of failed sign-ins from a network after which none is possible.
const MAX_FAILURES: usize = 5;

/// Visits the pages, and takes pictures of them.
pub(super) async fn walk(shape: Shape, language: &'static str, pictures: Pictures) {
    let directory = tempfile::tempdir().unwrap();
    let redis = RedisServer::launch(directory.path());
    let world = World::builder(shape)
        .flag("--redis-url", &redis.url())
        .flag("--login-failures-address", &MAX_FAILURES.to_string())
        .flag("--client-id-metadata-documents", "any")
        // A sign-in waits two seconds, times this factor, before it is refused as overloaded.
        .flag("--time-limit-factor", "4");
    let world = world.start().await;
    let walk = Walk {
        pictures: Some(pictures),
        ..Walk::start(&world, language, Appearance::all().collect()).await
    };
    let user = world.user().await;
    keep_busy(&redis, world.now().after(Duration::from_hours(1))).await;
    fail_to_sign_in(&walk, &user).await;
    walk.check_expecting("sign-in-overloaded", 503).await;
    redis.kill();
    fail_to_sign_in(&walk, &user).await;
    walk.check_expecting("sign-in-unavailable", 503).await;
    walk.open("/forgot").await;
    walk.submit(&[("#email", &user.email)], SUBMIT, FAILED).await;
    walk.check_expecting("mail-unavailable", 503).await;
    // Nobody can sign in, but sessions are in the database.
    let url = format!("{}/", world.base());
    walk.chromium.set_cookie(&url, "sid", &user.sid).await;
    walk.open("/device").await;
    walk.submit(&[("#user_code", "BCDF-GHJK")], SUBMIT, FAILED).await;
    walk.check_expecting("device-code-unavailable", 503).await;
    let app = App {
        id: "https://app.example.org/client.json".to_owned(),
        secret: None,
        redirect_uri: CALLBACK.to_owned(),
    };
    walk.visit_expecting("flow-unavailable", &app.authorization().path(), 503)
        .await;
    walk.end().await;
}

/// Enters the right password, which is not checked.
async fn fail_to_sign_in(walk: &Walk<'_>, user: &User) {
    walk.open("/signin").await;
    let fields = [("#email", user.email.as_str()), ("#password", PASSWORD)];
    walk.submit(&fields, SUBMIT, FAILED).await;
}

/// Begins as many attempts to sign in from the network of the browser as may fail, and ends none. They count
/// for half a minute after `now`.
async fn keep_busy(redis: &RedisServer, now: Timestamp) {
    let client = Redis::new(&redis.url().parse().unwrap()).unwrap();
    let store = ExpiringStore::new(Some(client));
    let window = Window::throttle(MAX_FAILURES, Duration::from_secs(15 * 60));
    let counts = [window.count("login from 127.0.0.1".to_owned())];
    for _ in 0..MAX_FAILURES {
        let begun = store.begin_attempt(&counts, now).await;
        assert!(matches!(begun, Ok((AttemptDecision::Begun, _))));
    }
}
