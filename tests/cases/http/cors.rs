//! Other origins: which pages may read answers, and which may do so with cookies.

use serde_json::json;
use std::time::{Duration, Instant};
use tests::{Call, Caller, Reply, Shape, World, on_every_shape};

const APP: &str = "https://app.test";
const OURS: &str = "https://ours.test";
const STRANGER: &str = "https://stranger.test";

/// A third-party app at [`APP`], a first-party one at [`OURS`].
fn register(world: &World) {
    world.app().register();
    world
        .app()
        .redirect_uri("https://ours.test/cb")
        .first_party()
        .register();
}

fn from(call: Call, origin: &str) -> Call {
    call.header("origin", origin)
}

fn preflight(caller: &Caller, path: &str, origin: &str) -> Call {
    from(caller.call("OPTIONS", path), origin)
        .header("access-control-request-method", "PATCH")
        .header("access-control-request-headers", "authorization,if-match")
}

fn names(reply: &Reply, header: &str) -> Vec<String> {
    let names = reply.header(header).split(',').map(str::trim);
    names.map(str::to_ascii_lowercase).collect()
}

/// What the browser is told; fails where there is some of it without an origin.
fn shared_with(reply: &Reply) -> Option<(String, bool)> {
    let told = reply
        .headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"));
    if !reply.has("access-control-allow-origin") {
        assert_eq!(told.count(), 0, "{reply}");
        return None;
    }
    let with_cookies = reply.has("access-control-allow-credentials");
    assert!(
        !with_cookies || reply.header("access-control-allow-credentials") == "true",
        "{reply}"
    );
    Some((
        reply.header("access-control-allow-origin").to_owned(),
        with_cookies,
    ))
}

async fn an_origin_reads_what_it_is_registered_for(world: World) {
    register(&world);
    world
        .app()
        .kind("native")
        .redirect_uri("http://127.0.0.1/cb")
        .register();
    world
        .app()
        .kind("web")
        .redirect_uri("https://web.test/cb")
        .register();
    let anyone = world.anyone();
    for path in ["/posts", "/v1/posts", "/posts/1", "/me", "/csrf"] {
        for (origin, expected) in [
            (APP, Some(false)),
            (OURS, Some(true)),
            (world.base(), Some(true)),
            (STRANGER, None),
            ("https://app.test:8443", None),
            ("http://app.test", None),
            ("https://sub.app.test", None),
            ("https://app.test.evil.test", None),
            ("https://app.test/", None),
            ("HTTPS://APP.TEST", None),
            ("https://web.test", None),
            ("null", None),
            ("*", None),
            ("", None),
        ] {
            let reply = from(anyone.get(path), origin).await;
            let expected = expected.map(|with_cookies| (origin.to_owned(), with_cookies));
            assert_eq!(shared_with(&reply), expected, "{path} from {origin:?}");
            assert!(names(&reply, "vary").contains(&"origin".to_owned()), "{reply}");
            if expected.is_some() {
                let exposed = names(&reply, "access-control-expose-headers");
                let needed = [
                    "etag",
                    "location",
                    "link",
                    "x-correlation-id",
                    "retry-after",
                    "www-authenticate",
                ];
                assert!(
                    needed.iter().all(|name| exposed.contains(&(*name).to_owned())),
                    "{reply}"
                );
            }
        }
        let without = anyone.get(path).await;
        assert_eq!(shared_with(&without), None);
        assert!(
            names(&without, "vary").contains(&"origin".to_owned()),
            "{without}"
        );
        let twice = from(from(anyone.get(path), APP), APP).await;
        assert_eq!(shared_with(&twice), None);
    }
}

async fn a_preflight_says_what_may_be_sent(world: World) {
    register(&world);
    let anyone = world.anyone();
    for (path, methods) in [
        ("/posts/1", vec!["get", "head", "patch", "delete", "options"]),
        ("/v1/posts/1", vec!["get", "head", "patch", "delete", "options"]),
        ("/v1/posts", vec!["get", "head", "post", "options"]),
        ("/token", vec!["post", "options"]),
    ] {
        let reply = preflight(&anyone, path, APP).await.expect(204);
        assert_eq!(shared_with(&reply), Some((APP.to_owned(), false)));
        let mut allowed = names(&reply, "access-control-allow-methods");
        allowed.sort();
        let mut methods = methods;
        methods.sort_unstable();
        assert_eq!(allowed, methods, "{reply}");
        let headers = names(&reply, "access-control-allow-headers");
        for name in [
            "authorization",
            "content-type",
            "if-match",
            "if-none-match",
            "idempotency-key",
            "x-csrf-token",
            "accept",
            "traceparent",
        ] {
            assert!(headers.contains(&name.to_owned()), "{name}: {reply}");
        }
        reply.header("access-control-max-age").parse::<u32>().unwrap();
        let ours = preflight(&anyone, path, OURS).await.expect(204);
        assert_eq!(shared_with(&ours), Some((OURS.to_owned(), true)));
        let stranger = preflight(&anyone, path, STRANGER).await.expect(204);
        assert_eq!(shared_with(&stranger), None);
    }
    preflight(&anyone, "/nothing", APP)
        .await
        .expect_error(404, "not_found");
}

async fn errors_can_be_read_too(world: World) {
    register(&world);
    let ann = world.sign_up().await;
    let caller = ann.with("origin", OURS);
    let expected = Some((OURS.to_owned(), true));
    let missing = caller.get("/posts/999999").await.expect(404);
    assert_eq!(shared_with(&missing), expected);
    // Where nothing is, the answer is the same in all.
    let nothing = caller.get("/nothing").await.expect(404);
    assert_eq!(nothing.anonymised().1, missing.anonymised().1);
    let method = caller.call("PUT", "/posts").await.expect(405);
    assert_eq!(shared_with(&method), expected);
    // A foreign origin that may read is not thereby one whose calls are no forgeries.
    let forged = caller.post("/posts").json(&json!({ "title": "Forged" })).await;
    assert_eq!(shared_with(&forged.expect_error(403, "csrf_mismatch")), expected);
    let code = from(world.anyone().post("/token"), APP).form(&[("client_id", "nobody")]);
    assert_eq!(
        shared_with(&code.await.expect(401)),
        Some((APP.to_owned(), false))
    );
}

async fn an_app_calls_with_its_token_from_its_own_origin(world: World) {
    let (ann, app) = world.person_and_app().await;
    let tokens = app.tokens(&ann, "posts:read posts:write").await;
    let caller = world.anyone().bearer(&tokens.access).with("origin", APP);
    let made = caller.post("/v1/posts").json(&json!({ "title": "By an app" }));
    let made = made.await.expect(201);
    assert_eq!(shared_with(&made), Some((APP.to_owned(), false)));
}

async fn pages_are_shared_with_nobody(world: World) {
    register(&world);
    let anyone = world.anyone();
    let mut paths = vec![
        "/authorize",
        "/signin",
        "/consent",
        "/password",
        "/livez",
        "/readyz",
    ];
    if world.shape != Shape::Split {
        // Elsewhere there is nothing under these.
        paths.extend(["/", "/demo"]);
    }
    for path in paths {
        for origin in [APP, OURS, world.base()] {
            assert_eq!(shared_with(&from(anyone.get(path), origin).await), None, "{path}");
            assert_eq!(
                shared_with(&preflight(&anyone, path, origin).await),
                None,
                "{path}"
            );
        }
    }
}

async fn public_documents_are_shared_with_anyone_but_without_cookies(world: World) {
    for path in [
        "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
    ] {
        for origin in [STRANGER, world.base(), "null"] {
            let reply = from(world.anyone().get(path), origin).await.expect(200);
            assert_eq!(shared_with(&reply), Some(("*".to_owned(), false)), "{path}");
        }
    }
}

async fn an_app_is_known_soon_after_it_is_registered(world: World) {
    let ask = || async { shared_with(&from(world.anyone().get("/posts"), OURS).await) };
    assert_eq!(ask().await, None);
    register(&world);
    let began = Instant::now();
    while ask().await.is_none() {
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "the app is still unknown"
        );
    }
}

on_every_shape!(
    an_origin_reads_what_it_is_registered_for,
    a_preflight_says_what_may_be_sent,
    errors_can_be_read_too,
    an_app_calls_with_its_token_from_its_own_origin,
    pages_are_shared_with_nobody,
    public_documents_are_shared_with_anyone_but_without_cookies,
    an_app_is_known_soon_after_it_is_registered,
);
