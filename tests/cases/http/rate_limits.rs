//! Rate limits. Replicas share counters with a short delay, so the tests hold for any number of them.

mod apps;

use serde_json::json;
use std::time::Duration;
use tests::{
    Call, Caller, Reply, Shape, SharedWorld, World, WorldBuilder, on_every_shape, on_many_processes,
};

const READS: u32 = 8;
const WRITES: u32 = 4;
const ADDRESS: u32 = 12;
const MINUTE: Duration = Duration::from_secs(60);

/// A world with rate limits, a test clock, and client addresses from `X-Forwarded-For`.
fn limited(shape: Shape) -> WorldBuilder {
    World::builder(shape)
        .clock()
        .env("LATCHKEY_RATE_LIMITS", "on")
        .env("LATCHKEY_RATE_LIMIT_READS", &READS.to_string())
        .env("LATCHKEY_RATE_LIMIT_WRITES", &WRITES.to_string())
        .env("LATCHKEY_TRUSTED_PROXIES", "127.0.0.0/8")
}

/// Sends twice the allowed requests and one more. Returns the last response.
async fn exhaust(quota: u32, call: impl Fn() -> Call) -> Reply {
    for _ in 0..quota * 2 {
        call().await;
    }
    call().await
}

/// The numbers of one limit from both headers: quota, window, remaining requests, and seconds until the
/// reset.
fn limit_numbers(reply: &Reply, limit: &str) -> [u32; 4] {
    let number = |header: &str, parameter: &str| {
        let mut limits = reply.header(header).split(", ");
        let item = limits.find_map(|item| item.strip_prefix(&format!("\"{limit}\";")));
        let mut parameters = item.into_iter().flat_map(|item| item.split(';'));
        let value = parameters.find_map(|found| found.strip_prefix(parameter)?.strip_prefix('='));
        value
            .unwrap_or_else(|| panic!("no {limit} in {header}: {reply}"))
            .parse()
            .unwrap()
    };
    [
        number("ratelimit-policy", "q"),
        number("ratelimit-policy", "w"),
        number("ratelimit", "r"),
        number("ratelimit", "t"),
    ]
}

fn expect_rate_limited(reply: Reply, limit: &str, quota: u32) {
    let reply = reply.expect_error(429, "rate_limited");
    let [stated_quota, window, remaining, resets_in] = limit_numbers(&reply, limit);
    assert_eq!((stated_quota, window, remaining), (quota, 60, 0), "{reply}");
    assert!((1..=60).contains(&resets_in), "{reply}");
    assert_eq!(reply.header("retry-after"), resets_in.to_string(), "{reply}");
}

async fn exceeding_the_read_limit_blocks_until_the_next_minute(shape: Shape) {
    let world = limited(shape).start().await;
    let (ann, bob) = (world.user().await, world.user().await);
    let first = ann.get("/posts").await.expect(200);
    let [quota, window, remaining, resets_in] = limit_numbers(&first, "reads");
    assert_eq!((quota, window, remaining), (READS, 60, READS - 1), "{first}");
    assert!((1..=60).contains(&resets_in), "{first}");
    expect_rate_limited(exhaust(READS, || ann.get("/posts")).await, "reads", READS);
    // Other paths, the version prefix and HEAD count against the same limit.
    ann.get("/v1/me").await.expect_error(429, "rate_limited");
    ann.call("HEAD", "/posts").await.expect(429);
    // Writes and other users have their own limits.
    ann.post("/posts")
        .json(&json!({ "title": "A" }))
        .await
        .expect(201);
    bob.get("/posts").await.expect(200);
    world.advance(MINUTE);
    ann.get("/posts").await.expect(200);
}

async fn writes_have_their_own_limit_and_rejected_ones_write_nothing(shape: Shape) {
    let world = limited(shape).start().await;
    let ann = world.user().await;
    let body = json!({ "title": "A" });
    expect_rate_limited(
        exhaust(WRITES, || ann.post("/posts").json(&body)).await,
        "writes",
        WRITES,
    );
    // The rate limit precedes the CSRF check.
    let forged = ann.anonymous().cookies(&format!("sid={}", ann.sid));
    forged
        .post("/posts")
        .json(&body)
        .await
        .expect_error(429, "rate_limited");
    let posts = ann.get("/posts").await.expect(200).json();
    let made = posts["items"].as_array().map_or(0, Vec::len);
    assert!(made <= usize::try_from(WRITES * 2).unwrap(), "{made} posts");
}

async fn each_client_of_a_user_is_counted_separately(shape: Shape) {
    let world = limited(shape).start().await;
    let ann = world.user().await;
    let (one, other) = (world.app().register(), world.app().register());
    let one = one.tokens(&ann, "posts:read").await.access;
    let other = other.tokens(&ann, "posts:read").await.access;
    let one = world.anyone().bearer(&one);
    expect_rate_limited(exhaust(READS, || one.get("/protected")).await, "reads", READS);
    world.expect_accepted(&other).await;
    ann.get("/posts").await.expect(200);
}

fn at(world: &World, address: &str) -> Caller {
    world.anyone().with("x-forwarded-for", address)
}

async fn addresses_have_a_limit(shape: Shape) {
    let setup = limited(shape).env("LATCHKEY_RATE_LIMIT_ADDRESS", &ADDRESS.to_string());
    let world = setup.start().await;
    let (flood, honest) = (at(&world, "2001:db8:1:2::1"), at(&world, "2001:db8:1:3::1"));
    let refused = exhaust(ADDRESS, || flood.get("/posts")).await;
    expect_rate_limited(refused, "address", ADDRESS);
    // Another address of the same IPv6 /64 network, on other counted paths.
    let same = at(&world, "2001:db8:1:2:ffff::2");
    for path in ["/v1/posts/1", "/csrf", "/signin"] {
        expect_rate_limited(exhaust(ADDRESS, || same.get(path)).await, "address", ADDRESS);
    }
    let token = || same.post("/token").form(&[("grant_type", "x")]);
    expect_rate_limited(exhaust(ADDRESS, token).await, "address", ADDRESS);
    // Unknown paths and methods take precedence. Health, keys and styles are not limited.
    same.get("/nothing").await.expect_error(404, "not_found");
    let method = same
        .call("PUT", "/posts")
        .await
        .expect_error(405, "method_not_allowed");
    assert!(!method.has("retry-after"), "{method}");
    same.call("OPTIONS", "/posts").await.expect(204);
    for path in [
        "/livez",
        "/readyz",
        "/.well-known/jwks.json",
        "/assets/latchkey.css",
    ] {
        let reply = same.get(path).await.expect(200);
        assert!(!reply.has("ratelimit"), "{reply}");
    }
    let reply = honest.get("/posts").await.expect_error(401, "unauthenticated");
    assert_eq!(
        limit_numbers(&reply, "address")[..3],
        [ADDRESS, 60, ADDRESS - 1],
        "{reply}"
    );
    world.advance(MINUTE);
    flood.get("/posts").await.expect_error(401, "unauthenticated");
}

async fn rate_limit_errors_are_readable_by_browsers(shape: Shape) {
    let setup = limited(shape).env("LATCHKEY_RATE_LIMIT_ADDRESS", &ADDRESS.to_string());
    let world = setup.start().await;
    let page = at(&world, "192.0.2.1").with("origin", world.base());
    let refused = exhaust(ADDRESS, || page.get("/posts")).await;
    assert_eq!(
        refused.header("access-control-allow-origin"),
        world.base(),
        "{refused}"
    );
    expect_rate_limited(refused, "address", ADDRESS);
}

async fn limits_are_off_on_loopback_by_default(world: SharedWorld) {
    let ann = world.user().await;
    let reply = ann.get("/posts").await.expect(200);
    assert!(
        !reply.has("ratelimit") && !reply.has("ratelimit-policy"),
        "{reply}"
    );
}

/// Neither API alone exceeds the limit, because each gets fewer requests than it allows. Both together get
/// more, and may reject some of them as soon as they have shared their counts.
async fn replicas_share_their_counters(shape: Shape) {
    let world = limited(shape).start().await;
    let ann = world.user().await;
    let apis = world.at_each_api(&ann);
    for api in &apis {
        for _ in 0..READS - 3 {
            let reply = api.get("/me").await;
            assert!(matches!(reply.status, 200 | 429), "{reply}");
        }
    }
    for api in &apis {
        let mut granted = 0;
        loop {
            let reply = api.get("/me").await;
            if reply.status == 429 {
                break;
            }
            reply.expect(200);
            granted += 1;
            // Without shared counters each API would allow three more.
            assert!(
                granted < 3,
                "the counters are not shared after {granted} more calls"
            );
            // Much longer than the replicas take to share their counts, which is a fifth of a second.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}

on_many_processes!(replicas_share_their_counters);

on_every_shape!(
    exceeding_the_read_limit_blocks_until_the_next_minute,
    writes_have_their_own_limit_and_rejected_ones_write_nothing,
    each_client_of_a_user_is_counted_separately,
    addresses_have_a_limit,
    rate_limit_errors_are_readable_by_browsers,
    limits_are_off_on_loopback_by_default,
);
