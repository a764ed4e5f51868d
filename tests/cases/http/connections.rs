//! Connections: trace context, framework errors, slow and oversized requests, health and shutdown.

use serde_json::json;
use std::time::{Duration, Instant};
use tests::{PASSWORD, RawConnection, Shape, SharedWorld, World, on_one_shape};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

async fn valid_traceparent_headers_are_continued_and_others_ignored(world: SharedWorld) {
    let anyone = world.anyone();
    let with = |value: &str| anyone.get("/posts").header("traceparent", value);
    let good = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let later = format!("{}-x", good.replacen("00-", "01-", 1));
    for good in [&good, &later] {
        let reply = with(good).await.expect_error(401, "unauthenticated");
        assert_eq!(reply.correlation_id(), TRACE, "{good}");
    }
    for bad in [
        "",
        "x",
        &good.to_uppercase(),
        &good[..54],
        &format!("{good}-x"),
        &good.replace(TRACE, &"0".repeat(32)),
        &good.replace("00f067aa0ba902b7", &"0".repeat(16)),
        &"0".repeat(10_000),
        &good.replacen("00-", "ff-", 1),
    ] {
        assert_ne!(with(bad).await.correlation_id(), TRACE, "{bad:.60}");
    }
    let twice = with(&good).header("traceparent", &good).await;
    assert_ne!(twice.correlation_id(), TRACE);
    assert_ne!(with("").await.correlation_id(), with("").await.correlation_id());
}

async fn framework_errors_have_the_error_body(world: SharedWorld) {
    let ann = world.user().await;
    for caller in [world.anyone(), ann.anonymous().session(&ann.sid, &ann.csrf)] {
        for path in [
            "/nothing",
            "/posts/1/2/3",
            "/%2e%2e/etc/passwd",
            "//",
            "/POSTS",
            "/posts%2F1",
        ] {
            caller.get(path).await.expect_error(404, "not_found");
            caller.call("BREW", path).await.expect_error(404, "not_found");
        }
        for path in ["/login", "/users", "/logout"] {
            let reply = caller.get(path).await.expect_error(405, "method_not_allowed");
            assert!(reply.header("allow").contains("POST"), "{reply}");
        }
    }
    ann.post("/posts")
        .body("text/plain", "x")
        .await
        .expect_error(415, "unsupported_media_type");
    ann.post("/posts")
        .body("application/json", "{")
        .await
        .expect_error(400, "malformed_json");
    ann.post("/posts")
        .body("application/json", " ".repeat(1024 * 1024 + 1))
        .await
        .expect_error(413, "payload_too_large");
}

async fn silent_connections_are_closed(world: World) {
    let port = world.api_ports()[0];
    let (mut silent, mut slow) = (
        RawConnection::connect(port).await,
        RawConnection::connect(port).await,
    );
    slow.send("GET /livez HTTP/1.1\r\nHost: loc").await;
    let began = Instant::now();
    silent.read_to_end().await;
    let answer = slow.read_to_end().await;
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        began.elapsed() < Duration::from_secs(200),
        "closed after {:?}",
        began.elapsed()
    );
}

/// A proxy keeps connections, and must not send a request into one that is being closed.
async fn kept_connections_may_be_idle_longer_than_a_head_may_take(shape: Shape) {
    const REQUEST: &str = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let world = World::builder(shape).flag("--keep-alive", "25s").start().await;
    let port = world.api_ports()[0];
    let [mut idle, mut slow, mut used] = [
        RawConnection::connect(port).await,
        RawConnection::connect(port).await,
        RawConnection::connect(port).await,
    ];
    for connection in [&mut idle, &mut slow, &mut used] {
        connection.send(REQUEST).await;
        connection.read_until("\"live\"}").await;
    }
    slow.send("GET /livez HTTP/1.1\r\nHost: loc").await;
    let began = Instant::now();
    let ended = async |connection: &mut RawConnection| {
        let answer = connection.read_to_end().await;
        assert_eq!(answer, "");
        began.elapsed()
    };
    let (idle_for, slow_for) = tokio::join!(ended(&mut idle), async {
        let slow_for = ended(&mut slow).await;
        // The head of the slow connection has timed out, and the others are still open.
        used.send(REQUEST).await;
        used.read_until("\"live\"}").await;
        slow_for
    });
    assert!(slow_for >= Duration::from_secs(9), "{slow_for:?}");
    assert!(idle_for >= Duration::from_secs(24), "{idle_for:?}");
}

async fn incomplete_bodies_time_out(shape: Shape) {
    let world = World::builder(shape).default_time_limits().start().await;
    let mut slow = RawConnection::connect(world.api_ports()[0]).await;
    slow.send("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{").await;
    let began = Instant::now();
    let answer = slow.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(
        began.elapsed() < Duration::from_secs(600),
        "given up after {:?}",
        began.elapsed()
    );
}

async fn oversized_request_heads_are_rejected(world: SharedWorld) {
    let long = format!(
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n",
        "x".repeat(1_000_000)
    );
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    for head in [
        long,
        format!("GET /livez HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"),
    ] {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        raw.send(head).await;
        let answer = raw.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:.200}");
    }
    world.anyone().get("/livez").await.expect(200);
}

async fn ambiguous_requests_are_rejected(world: SharedWorld) {
    for head in [
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\r\n folded\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n",
        "GET  /livez  HTTP/1.1\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        raw.send(head).await;
        let answer = raw.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{head:?}: {answer}");
    }
}

async fn requests_need_exactly_one_valid_host(world: SharedWorld) {
    // A connection to one process, so that no proxy completes the request.
    let answer = async |port: u16, head: &str| {
        let mut raw = RawConnection::connect(port).await;
        raw.send(format!("{head}Connection: close\r\n\r\n")).await;
        raw.read_to_end().await
    };
    let invalid = [
        "",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host:\r\n",
        "Host: :80\r\n",
        "Host: local host\r\n",
        "Host: localhost:http\r\n",
        "Host: http://localhost\r\n",
        "Host: ann@localhost\r\n",
        "Host: [::1\r\n",
    ];
    let requests = [
        "GET /livez",
        "GET /posts/1",
        "HEAD /posts/1",
        "POST /login",
        "OPTIONS /posts",
        "GET /openapi.json",
        "GET /nothing",
        "GET http://localhost/livez",
        "GET /signin",
        "POST /signin",
        "GET /authorize",
        "POST /token",
        "GET /.well-known/jwks.json",
        "GET /admin/users",
    ];
    for port in [world.api_ports()[0], world.issuer_ports()[0]] {
        for request in requests {
            for host in invalid {
                let refused = answer(port, &format!("{request} HTTP/1.1\r\n{host}")).await;
                let is_json = refused.contains("content-type: application/json\r\n");
                assert!(
                    refused.starts_with("HTTP/1.1 400 ") && is_json,
                    "{request} {host:?}: {refused}"
                );
            }
        }
        let problem = "GET /signin HTTP/1.1\r\nAccept: application/problem+json\r\n";
        let problem = answer(port, problem).await;
        assert!(
            problem.contains(r#""type":"urn:problem-type:latchkey:malformed_json""#)
                && problem.contains("\r\nx-correlation-id: "),
            "{problem}"
        );
        for valid in [
            "GET /livez HTTP/1.1\r\nHost: localhost\r\n",
            "GET /livez HTTP/1.1\r\nHost: ID.example.org:8080\r\n",
            "GET /livez HTTP/1.1\r\nHost: [::1]:80\r\n",
            "GET /livez HTTP/1.0\r\n",
        ] {
            let accepted = answer(port, valid).await;
            assert!(accepted.contains(" 200 OK\r\n"), "{valid:?}: {accepted}");
        }
    }
}

async fn shutdown_completes_requests_in_flight(mut world: World) {
    let ann = world.user().await;
    let body = json!({ "email": ann.email, "password": PASSWORD }).to_string();
    let mut raw = RawConnection::connect(world.api_ports()[0]).await;
    raw.send(format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Expect: 100-continue\r\n\r\n",
        body.len()
    ))
    .await;
    // The program has asked for the body, so the request is in flight.
    raw.read_until("HTTP/1.1 100 Continue\r\n\r\n").await;
    terminate(&world).await;
    raw.send(body).await;
    let answer = raw.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    world.stop().await;
}

/// Sends SIGTERM, and waits until the first API accepts no more connections.
async fn terminate(world: &World) {
    world.terminate();
    while tokio::net::TcpStream::connect(("127.0.0.1", world.api_ports()[0]))
        .await
        .is_ok()
    {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A proxy repeats no POST that it was sending while the program closed the connection.
async fn kept_connections_of_a_proxy_end_with_a_response(shape: Shape) {
    let mut world = World::builder(shape)
        .flag("--trusted-proxies", "127.0.0.0/8")
        .start()
        .await;
    // The program waits for a second, which a busy machine may have left already.
    for _ in 0..20 {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        let request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
        raw.send(request).await;
        let kept = raw.read_until("\r\n\r\n").await.to_lowercase();
        assert!(!kept.contains("connection: close"), "{kept}");
        terminate(&world).await;
        raw.send(request).await;
        let last = raw.read_to_end().await.to_lowercase();
        world.stop().await;
        if last.contains("http/1.1 200 ok") {
            assert!(last.contains("connection: close"), "{last}");
            return;
        }
        world.restart().await;
    }
    panic!("the program closed each kept connection without a last response");
}

async fn liveness_and_readiness_are_reported(world: SharedWorld) {
    world.anyone().get("/livez").await.expect(200);
    let ready = world.anyone().get("/readyz").await.expect(200).json();
    assert_eq!(ready["status"], "ready");
    assert!(
        ready["checks"]
            .as_object()
            .unwrap()
            .values()
            .all(|check| check == "ok"),
        "{ready}"
    );
}

on_one_shape!(
    valid_traceparent_headers_are_continued_and_others_ignored,
    framework_errors_have_the_error_body,
    silent_connections_are_closed,
    kept_connections_may_be_idle_longer_than_a_head_may_take,
    incomplete_bodies_time_out,
    oversized_request_heads_are_rejected,
    ambiguous_requests_are_rejected,
    requests_need_exactly_one_valid_host,
    shutdown_completes_requests_in_flight,
    kept_connections_of_a_proxy_end_with_a_response,
    liveness_and_readiness_are_reported,
);
