//! Methods: HEAD, OPTIONS and 405; rejected request bodies.

use std::collections::BTreeSet;
use tests::{RawConnection, Reply, SharedWorld, on_every_shape};

/// Paths with all their methods except OPTIONS.
const PATHS: [(&str, &[&str]); 39] = [
    ("/posts", &["GET", "HEAD", "POST"]),
    ("/v1/posts", &["GET", "HEAD", "POST"]),
    ("/posts/1", &["GET", "HEAD", "PATCH", "DELETE"]),
    ("/v1/posts/1", &["GET", "HEAD", "PATCH", "DELETE"]),
    ("/payments", &["GET", "HEAD", "POST"]),
    ("/v1/payments/x", &["GET", "HEAD"]),
    ("/payments/x/refunds", &["POST"]),
    ("/v1/users", &["POST"]),
    ("/v1/users/1", &["GET", "HEAD"]),
    ("/v1/login", &["POST"]),
    ("/logout", &["POST"]),
    ("/me", &["DELETE", "GET", "HEAD"]),
    ("/me/mfa/totp", &["DELETE", "POST"]),
    ("/me/mfa/recovery-codes", &["POST"]),
    ("/me/passkeys", &["GET", "HEAD"]),
    ("/me/passkeys/1", &["DELETE"]),
    ("/me/passkeys/1/name", &["PUT"]),
    ("/me/sessions", &["DELETE", "GET", "HEAD"]),
    ("/me/sessions/1", &["DELETE"]),
    ("/me/grants", &["GET", "HEAD"]),
    ("/password-resets", &["POST"]),
    ("/v1/me/password", &["DELETE", "PUT"]),
    ("/protected", &["GET", "HEAD"]),
    ("/csrf", &["GET", "HEAD"]),
    ("/v1/csrf", &["GET", "HEAD"]),
    ("/livez", &["GET", "HEAD"]),
    ("/token", &["POST"]),
    ("/revoke", &["POST"]),
    ("/introspect", &["POST"]),
    ("/par", &["POST"]),
    ("/register", &["POST"]),
    ("/register/x", &["DELETE", "GET", "HEAD", "PUT"]),
    ("/userinfo", &["GET", "HEAD", "POST"]),
    ("/signout", &["GET", "HEAD", "POST"]),
    ("/authorize", &["GET", "HEAD", "POST"]),
    ("/.well-known/jwks.json", &["GET", "HEAD"]),
    ("/device_authorization", &["POST"]),
    ("/device", &["GET", "HEAD", "POST"]),
    ("/device/confirmation", &["POST"]),
];

fn allowed(reply: &Reply) -> BTreeSet<&str> {
    reply.header("allow").split(", ").collect()
}

async fn allow_lists_every_method_of_a_path(world: SharedWorld) {
    let anyone = world.anyone();
    for (path, methods) in PATHS {
        let expected: BTreeSet<&str> = methods.iter().copied().chain(["OPTIONS"]).collect();
        let options = anyone.call("OPTIONS", path).await.expect(204);
        assert_eq!(allowed(&options), expected, "{path}");
        assert!(
            options.body.is_empty() && !options.has("content-type"),
            "{options}"
        );
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            let reply = anyone.call(method, path).await;
            if methods.contains(&method) {
                assert!(reply.status != 405 && !reply.has("allow"), "{reply}");
                continue;
            }
            let reply = reply.expect(405);
            assert_eq!(allowed(&reply), expected, "{method} {path}");
            assert_eq!(reply.header("content-type"), "application/json");
            assert_eq!(reply.body.is_empty(), method == "HEAD", "{reply}");
        }
    }
    for path in ["/nothing", "/v2/posts", "/v1/token"] {
        let reply = anyone.call("OPTIONS", path).await.expect_error(404, "not_found");
        assert!(!reply.has("allow"), "{reply}");
    }
}

async fn patch_routes_name_the_media_type_of_their_bodies(world: SharedWorld) {
    let admin = world.user_with_role("admin").await;
    let post = admin.publish("A post").await;
    let client = format!("/admin/clients/{}", world.app().register().id);
    let user = format!("/admin/users/{}", world.user().await.id);
    for path in [post.path.clone(), format!("/v1{}", post.path), client, user] {
        let options = admin.call("OPTIONS", &path).await.expect(204);
        assert_eq!(options.header("accept-patch"), "application/json", "{path}");
        for content_type in ["application/merge-patch+json", "text/plain"] {
            let patch = admin
                .patch(&path)
                .header("if-match", "*")
                .body(content_type, "{}");
            let refused = patch.await.expect_error(415, "unsupported_media_type");
            assert_eq!(refused.header("accept-patch"), "application/json", "{path}");
        }
    }
    for path in ["/posts", "/token", "/signin"] {
        let options = admin.call("OPTIONS", path).await.expect(204);
        assert!(!options.has("accept-patch"), "{options}");
    }
    let other = admin.post("/posts").body("text/plain", "{}").await.expect(415);
    assert!(!other.has("accept-patch"), "{other}");
}

async fn head_matches_get_for_pages_documents_and_errors(world: SharedWorld) {
    let anyone = world.anyone();
    for path in [
        "/signin",
        "/",
        "/assets/latchkey.css",
        "/.well-known/jwks.json",
        "/.well-known/oauth-authorization-server",
        "/livez",
        "/nothing",
        "/v1/posts",
        "/users",
        "/authorize",
    ] {
        let (get, head) = (anyone.get(path).await, anyone.call("HEAD", path).await);
        assert!(head.body.is_empty(), "{head}");
        assert_eq!(head.status, get.status, "{path}");
        let length = get.body.len().to_string();
        assert_eq!(head.header("content-length"), length, "{path}");
        for name in ["content-type", "etag", "vary", "allow", "cache-control"] {
            assert_eq!(head.headers.get(name), get.headers.get(name), "{path}: {name}");
        }
    }
}

async fn responses_without_content_have_no_length(world: SharedWorld) {
    let post = world.user().await.publish("A post").await;
    for (head, status) in [
        ("OPTIONS /posts HTTP/1.1".to_owned(), "204"),
        (
            format!("GET {} HTTP/1.1\r\nIf-None-Match: {}", post.path, post.etag),
            "304",
        ),
    ] {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        raw.send(format!("{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            .await;
        let answer = raw.read_to_end().await.to_ascii_lowercase();
        assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{answer}");
        assert!(!answer.contains("content-length"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}

async fn request_bodies_are_checked_for_type_coding_and_size(world: SharedWorld) {
    let ann = world.user().await;
    let json = "application/json";
    for (content_type, body) in [
        ("text/plain", "{}"),
        ("application/x-www-form-urlencoded", "title=x"),
        ("application/json; charset=latin1", "{}"),
        ("application/jsonp", "{}"),
        ("", "{}"),
    ] {
        for path in ["/posts", "/v1/posts", "/users", "/login"] {
            let call = ann.post(path).body(content_type, body);
            call.await.expect_error(415, "unsupported_media_type");
        }
    }
    for coding in ["gzip", "br", "identity, gzip", "nonsense"] {
        let call = ann
            .post("/posts")
            .body(json, "{}")
            .header("content-encoding", coding);
        let reply = call.await.expect_error(415, "unsupported_media_type");
        assert_eq!(reply.header("accept-encoding"), "identity");
    }
    let padded = |size: usize| format!("{}{}", r#"{"title":"x"}"#, " ".repeat(size - 13));
    ann.post("/posts").body(json, padded(1 << 20)).await.expect(201);
    let over = ann.post("/posts").body(json, padded((1 << 20) + 1)).await;
    over.expect_error(413, "payload_too_large");
    for path in ["/users", "/v1/login", "/token"] {
        let within = ann.post(path).body(json, padded(1 << 16)).await;
        assert_ne!(within.status, 413, "{within}");
        let over = ann.post(path).body(json, padded((1 << 16) + 1)).await;
        over.expect_error(413, "payload_too_large");
    }
}

on_every_shape!(
    allow_lists_every_method_of_a_path,
    patch_routes_name_the_media_type_of_their_bodies,
    head_matches_get_for_pages_documents_and_errors,
    responses_without_content_have_no_length,
    request_bodies_are_checked_for_type_coding_and_size,
);
