//! CORS: the origins that may read responses, and those that may send cookies.

use serde_json::json;
use tests::{Call, Caller, PASSWORD, Reply, Shape, SharedWorld, World, eventually, on_every_shape};

const APP: &str = "https://third-party.test";
const FIRST_PARTY: &str = "https://ours.test";
const UNREGISTERED: &str = "https://unknown.test";

/// Registers a third-party app at [`APP`] and a first-party app at [`FIRST_PARTY`], and waits until each
/// replica knows them.
async fn register(world: &World) {
    world.app().redirect_uri("https://third-party.test/cb").register();
    world
        .app()
        .redirect_uri("https://ours.test/cb")
        .first_party()
        .register();
    for origin in [APP, FIRST_PARTY] {
        world.expect_origin(origin).await;
    }
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

/// The allowed origin, and whether credentials are allowed. Fails the test if there are CORS headers but no
/// allowed origin.
fn cors_headers(reply: &Reply) -> Option<(String, bool)> {
    let headers = reply
        .headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"));
    if !reply.has("access-control-allow-origin") {
        assert_eq!(headers.count(), 0, "{reply}");
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

async fn registered_origins_may_read_responses(world: SharedWorld) {
    register(&world).await;
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
    for path in ["/posts", "/v1/posts", "/posts/1", "/me", "/csrf", "/v1/csrf"] {
        for (origin, expected) in [
            (APP, Some(false)),
            (FIRST_PARTY, Some(true)),
            (world.base(), Some(true)),
            (UNREGISTERED, None),
            ("https://third-party.test:8443", None),
            ("http://third-party.test", None),
            ("https://sub.third-party.test", None),
            ("https://third-party.test.evil.test", None),
            ("https://third-party.test/", None),
            ("HTTPS://THIRD-PARTY.TEST", None),
            ("https://web.test", None),
            ("null", None),
            ("*", None),
            ("", None),
        ] {
            let reply = from(anyone.get(path), origin).await;
            let expected = expected.map(|with_cookies| (origin.to_owned(), with_cookies));
            assert_eq!(cors_headers(&reply), expected, "{path} from {origin:?}");
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
                    "dpop-nonce",
                ];
                assert!(
                    needed.iter().all(|name| exposed.contains(&(*name).to_owned())),
                    "{reply}"
                );
            }
        }
        let without = anyone.get(path).await;
        assert_eq!(cors_headers(&without), None);
        assert!(
            names(&without, "vary").contains(&"origin".to_owned()),
            "{without}"
        );
        let twice = from(from(anyone.get(path), APP), APP).await;
        assert_eq!(cors_headers(&twice), None);
    }
}

async fn preflights_list_the_allowed_methods_and_headers(world: SharedWorld) {
    register(&world).await;
    let anyone = world.anyone();
    for (path, methods) in [
        ("/posts/1", vec!["get", "head", "patch", "delete", "options"]),
        ("/v1/posts/1", vec!["get", "head", "patch", "delete", "options"]),
        ("/v1/posts", vec!["get", "head", "post", "options"]),
        ("/token", vec!["post", "options"]),
        ("/revoke", vec!["post", "options"]),
        ("/par", vec!["post", "options"]),
        ("/device_authorization", vec!["post", "options"]),
    ] {
        let reply = preflight(&anyone, path, APP).await.expect(204);
        assert_eq!(cors_headers(&reply), Some((APP.to_owned(), false)));
        let mut allowed = names(&reply, "access-control-allow-methods");
        allowed.sort();
        let mut methods = methods;
        methods.sort_unstable();
        assert_eq!(allowed, methods, "{reply}");
        let headers = names(&reply, "access-control-allow-headers");
        for name in [
            "authorization",
            "dpop",
            "content-type",
            "if-match",
            "if-none-match",
            "idempotency-key",
            "x-csrf-token",
            "accept",
            "traceparent",
            "tracestate",
            "baggage",
            "sentry-trace",
            "x-requested-with",
            "mcp-protocol-version",
        ] {
            assert!(headers.contains(&name.to_owned()), "{name}: {reply}");
        }
        reply.header("access-control-max-age").parse::<u32>().unwrap();
        let ours = preflight(&anyone, path, FIRST_PARTY).await.expect(204);
        assert_eq!(cors_headers(&ours), Some((FIRST_PARTY.to_owned(), true)));
        let unknown = preflight(&anyone, path, UNREGISTERED).await.expect(204);
        assert_eq!(cors_headers(&unknown), None);
    }
    preflight(&anyone, "/nothing", APP)
        .await
        .expect_error(404, "not_found");
}

async fn errors_are_readable_by_registered_origins(world: SharedWorld) {
    register(&world).await;
    let ann = world.user().await;
    let caller = ann.with("origin", FIRST_PARTY);
    let expected = Some((FIRST_PARTY.to_owned(), true));
    let missing = caller.get("/posts/999999").await.expect(404);
    assert_eq!(cors_headers(&missing), expected);
    // Unknown paths answer the same for all origins.
    let nothing = caller.get("/nothing").await.expect(404);
    assert_eq!(nothing.comparable_parts().1, missing.comparable_parts().1);
    let method = caller.call("PUT", "/posts").await.expect(405);
    assert_eq!(cors_headers(&method), expected);
    // The CSRF check also applies to origins that may read responses and send no cookies.
    let forged = ann.with("origin", APP).post("/posts");
    let forged = forged.json(&json!({ "title": "Forged" })).await;
    assert_eq!(
        cors_headers(&forged.expect_error(403, "csrf_mismatch")),
        Some((APP.to_owned(), false))
    );
    let code = from(world.anyone().post("/token"), APP).form(&[("client_id", "nobody")]);
    assert_eq!(
        cors_headers(&code.await.expect(401)),
        Some((APP.to_owned(), false))
    );
}

/// The origins that may send cookies are those whose writes with cookies are accepted, at the API and at the
/// issuer.
async fn origins_with_credentials_may_write(world: SharedWorld) {
    register(&world).await;
    let admin = world.user_with_role("admin").await;
    for origin in [FIRST_PARTY, world.base(), APP, UNREGISTERED] {
        let caller = admin.with("origin", origin);
        let cors = cors_headers(&caller.get("/csrf").await);
        let status = match cors.is_some_and(|(_, with_cookies)| with_cookies) {
            true => 201,
            false => 403,
        };
        let post = json!({ "title": "A post" });
        caller.post("/posts").json(&post).await.expect(status);
        caller.post("/v1/posts").json(&post).await.expect(status);
        let user = json!({ "email": world.fresh_email(), "password": PASSWORD, "role": "user" });
        caller.post("/admin/users").json(&user).await.expect(status);
        // No origin replaces the token.
        let cookies = format!("sid={}; csrf={}", admin.sid, admin.csrf);
        let forged = admin.cookies(&cookies).with("origin", origin).post("/posts");
        forged.json(&post).await.expect_error(403, "csrf_mismatch");
    }
}

async fn apps_call_with_a_token_from_their_own_origin(world: SharedWorld) {
    let ann = world.user().await;
    register(&world).await;
    let app = world.app().redirect_uri("https://third-party.test/cb").register();
    let tokens = app.tokens(&ann, "posts:read posts:write").await;
    let caller = world.anyone().bearer(&tokens.access).with("origin", APP);
    let made = caller.post("/v1/posts").json(&json!({ "title": "By an app" }));
    let made = made.await.expect(201);
    assert_eq!(cors_headers(&made), Some((APP.to_owned(), false)));
}

/// Apps that bring their pages along, by Capacitor or Tauri, send such origins.
async fn origins_of_other_schemes_can_be_allowed(shape: Shape) {
    let allowed = ["capacitor://localhost", "tauri://localhost"];
    let world = World::builder(shape);
    let world = world.flag("--allowed-origins", &allowed.join(",")).start().await;
    let ann = world.user().await;
    for origin in allowed {
        let expected = Some((origin.to_owned(), true));
        for path in ["/posts", "/me", "/csrf"] {
            assert_eq!(
                cors_headers(&from(ann.get(path), origin).await),
                expected,
                "{path}"
            );
        }
        let reply = preflight(&world.anyone(), "/token", origin).await.expect(204);
        assert_eq!(cors_headers(&reply), expected);
        let post = json!({ "title": "A post" });
        from(ann.post("/posts"), origin).json(&post).await.expect(201);
    }
    for origin in [
        "capacitor://localhost:80",
        "CAPACITOR://localhost",
        "capacitor://other",
        "ionic://localhost",
        "null",
    ] {
        assert_eq!(
            cors_headers(&from(ann.get("/posts"), origin).await),
            None,
            "{origin}"
        );
        let forged = from(ann.post("/posts"), origin).json(&json!({ "title": "Forged" }));
        forged.await.expect_error(403, "csrf_mismatch");
    }
}

async fn pages_are_not_readable_by_other_origins(world: SharedWorld) {
    register(&world).await;
    let anyone = world.anyone();
    let mut paths = vec![
        "/authorize",
        "/signin",
        "/signup",
        "/account",
        "/account/email",
        "/account/deletion",
        "/account/export",
        "/account/two-step",
        "/account/passkeys",
        "/consent",
        "/password",
        "/signout",
        "/livez",
        "/readyz",
    ];
    if world.shape != Shape::Split {
        // These paths exist only in the single-process program.
        paths.extend(["/", "/demo"]);
    }
    for path in paths {
        for origin in [APP, FIRST_PARTY, world.base()] {
            assert_eq!(
                cors_headers(&from(anyone.get(path), origin).await),
                None,
                "{path}"
            );
            assert_eq!(
                cors_headers(&preflight(&anyone, path, origin).await),
                None,
                "{path}"
            );
        }
    }
}

async fn public_documents_are_readable_by_any_origin_without_credentials(world: SharedWorld) {
    for path in [
        "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-protected-resource",
    ] {
        for origin in [UNREGISTERED, world.base(), "null"] {
            let reply = from(world.anyone().get(path), origin).await.expect(200);
            assert_eq!(cors_headers(&reply), Some(("*".to_owned(), false)), "{path}");
            let asked = "authorization,x-what-ever,mcp-protocol-version";
            let preflight = from(world.anyone().call("OPTIONS", path), origin);
            let preflight = preflight.header("access-control-request-method", "GET");
            let preflight = preflight
                .header("access-control-request-headers", asked)
                .await
                .expect(204);
            assert_eq!(cors_headers(&preflight), Some(("*".to_owned(), false)), "{path}");
            assert_eq!(preflight.header("access-control-allow-headers"), asked);
        }
    }
}

async fn preflights_repeat_no_names_beyond_ascii(world: SharedWorld) {
    let preflight = from(
        world.anyone().call("OPTIONS", "/.well-known/jwks.json"),
        UNREGISTERED,
    );
    let preflight = preflight
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "authorization,x-é")
        .await
        .expect(204);
    let names = preflight.header("access-control-allow-headers");
    assert!(names.starts_with("authorization, dpop,"), "{names}");
}

async fn new_origins_are_allowed_soon_after_registration(world: SharedWorld) {
    const NEW: &str = "https://new-origin.test";
    let ask = || async { cors_headers(&from(world.anyone().get("/posts"), NEW).await) };
    assert_eq!(ask().await, None);
    world.app().redirect_uri(&format!("{NEW}/cb")).register();
    eventually("the origin is still not allowed", async || ask().await.is_some()).await;
}

on_every_shape!(
    registered_origins_may_read_responses,
    preflights_list_the_allowed_methods_and_headers,
    errors_are_readable_by_registered_origins,
    origins_with_credentials_may_write,
    apps_call_with_a_token_from_their_own_origin,
    origins_of_other_schemes_can_be_allowed,
    pages_are_not_readable_by_other_origins,
    public_documents_are_readable_by_any_origin_without_credentials,
    preflights_repeat_no_names_beyond_ascii,
    new_origins_are_allowed_soon_after_registration,
);
