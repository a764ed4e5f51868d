//! Responses at a `jwks_uri` that are no key set.

use super::super::{SECOND, at_each_issuer, refused_responses};
use super::Key;
use super::published_keys::{app_with_server, publish, sign_in};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{Reply, Sentinel, Shape, SharedWorld, World, on_every_shape, response, run_concurrently};

#[track_caller]
fn expect_reason(reply: Reply, reason: &str) {
    let body = reply.expect_token_error(401, "invalid_client").json();
    let description = body["error_description"].as_str().unwrap();
    assert!(description.contains(reason), "{reason}: {description}");
}

async fn other_responses_than_a_key_set_are_refused_and_not_cached(shape: Shape) {
    const JSON: &str = "Content-Type: application/json\r\n";
    let world = World::builder(shape).clock().start().await;
    let key = Key::rsa("rsa");
    let (app, server) = app_with_server(&world, &[&key]).await;
    let issuer = &at_each_issuer(&world)[0];
    let sentinel = Sentinel::start();
    let good = json!({ "keys": [key.jwk()] }).to_string();
    let long = format!("{good}{}", " ".repeat(64 * 1024));
    let chunk = format!("{:x}\r\n{long}\r\n", long.len());
    let named = |n: i32| {
        let mut jwk = key.jwk();
        jwk["kid"] = json!(n.to_string());
        jwk
    };
    let many: Vec<Value> = (0..11).map(named).collect();
    let private = good.replace(r#""e":"#, r#""d":"AQAB","e":"#);
    let refused = refused_responses("206 Partial Content", &good, &sentinel);
    let further = [
        (
            response("200 OK", "Content-Type: application/jsonp\r\n", &good),
            "another media type",
        ),
        (response("200 OK", JSON, &long), "longer than 65536 bytes"),
        (
            format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n"),
            "longer than 65536 bytes",
        ),
        (
            format!(
                "HTTP/1.1 200 OK\r\n{JSON}Content-Length: {}\r\n\r\n{good}",
                good.len() + 1
            ),
            "or incomplete",
        ),
        (
            response(
                "200 OK",
                &format!("{JSON}Content-Encoding: gzip\r\n"),
                "\u{1f}\u{8}",
            ),
            "not valid JSON",
        ),
        (response("200 OK", JSON, ""), "not valid JSON"),
        (
            response("200 OK", JSON, &format!(r#"{{"keys":[],{}"#, &good[1..])),
            "not valid JSON",
        ),
        (response("200 OK", JSON, &key.jwk().to_string()), "1 to 10 keys"),
        (
            response("200 OK", JSON, &json!({ "keys": many }).to_string()),
            "1 to 10 keys",
        ),
        (
            response("200 OK", JSON, &private),
            "key 1 of the JWK set is private",
        ),
        ("nonsense\r\n\r\n".to_owned(), "cannot be reached"),
    ];
    for (response, reason) in refused.into_iter().chain(further) {
        server.answer_raw(&response);
        expect_reason(sign_in(&world, issuer, &app, &key).await, reason);
        let fetches = server.received().len();
        expect_reason(sign_in(&world, issuer, &app, &key).await, reason);
        assert_eq!(server.received().len(), fetches, "{reason}");
        world.advance(SECOND);
    }
    sentinel.expect_no_connection();
    let media_type = "Content-Type: Application/JWK-Set+JSON; charset=utf-8\r\n";
    server.answer_raw(&response("200 OK", media_type, &good));
    sign_in(&world, issuer, &app, &key).await.expect(200);
}

/// A server that is slow with one app holds up no other.
async fn a_fetch_ends_after_five_seconds(world: SharedWorld) {
    let key = Key::rsa("rsa");
    let (app, server) = app_with_server(&world, &[&key]).await;
    let (other, _server) = app_with_server(&world, &[&key]).await;
    let issuer = &at_each_issuer(&world)[0];
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n";
    let body = " ".repeat(60_000);
    for slow in ["head", "body", "both"] {
        match slow {
            "head" => server.answer_slowly(&format!("{head}{body}")),
            "body" => server.answer_with_slow_body(head, &body),
            _ => server.never_answer(),
        }
        let before = server.received().len();
        let began = Instant::now();
        let assertions: Vec<String> = (0..3)
            .map(|_| key.assertion(&super::claims(&world, &app)))
            .collect();
        let requests = tokio::spawn(run_concurrently(3, {
            let issuer = issuer.clone();
            move |n| super::request(&issuer, &assertions[n]).into_future()
        }));
        sign_in(&world, issuer, &other, &key).await.expect(200);
        assert!(!requests.is_finished(), "the other app waited");
        for reply in requests.await.unwrap() {
            expect_reason(reply, "did not answer within 5 s");
        }
        let elapsed = began.elapsed();
        assert!(elapsed >= Duration::from_secs(5), "{slow}: {elapsed:?}");
        assert_eq!(server.received().len(), before + 1);
    }
    publish(&server, &[&key]);
    sign_in(&world, issuer, &app, &key).await.expect(200);
}

on_every_shape!(
    other_responses_than_a_key_set_are_refused_and_not_cached,
    a_fetch_ends_after_five_seconds,
);
