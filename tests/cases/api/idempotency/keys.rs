//! The syntax of keys, and errors for missing and malformed keys.

use super::{payment, rows};
use serde_json::{Value, json};
use tests::{Call, Caller, Payment, RawConnection, SharedWorld, fresh_key, on_every_shape};

/// The writes that require a key, without one.
fn writes_without_key(caller: &Caller, made: &Payment) -> Vec<Call> {
    let transition = |name: &str| caller.post(&format!("{}/{name}", made.path)).json(&json!({}));
    vec![
        caller.post("/payments").json(&payment()),
        transition("captures"),
        transition("cancellations"),
        transition("refunds"),
    ]
}

async fn a_missing_key_precedes_all_other_errors(world: SharedWorld) {
    let ann = world.user().await;
    let made = ann.pay(100).await;
    let forged = ann.cookies(&format!("sid={}", ann.sid));
    let reader = tests::caller_with_scope(&world, &ann, "payments:read").await;
    for caller in [
        Caller::clone(&ann),
        world.anyone(),
        world.anyone().bearer("x.y.z"),
        forged,
        reader,
    ] {
        for call in writes_without_key(&caller, &made) {
            call.await.expect_problem(400, "idempotency_key_missing");
        }
    }
    for call in writes_without_key(&ann, &made) {
        let call = call.body("text/plain", "x");
        call.await.expect_problem(400, "idempotency_key_missing");
    }
    let missing = ann.post("/payments/pay_x/captures").json(&json!({}));
    missing.await.expect_problem(400, "idempotency_key_missing");
    // The errors for unknown paths and methods precede it.
    ann.post("/payments/x/y").await.expect_error(404, "not_found");
    ann.call("PUT", "/payments")
        .await
        .expect_error(405, "method_not_allowed");
    assert_eq!(rows(&ann, &world, "payments").await, 1);
}

async fn malformed_keys_are_rejected(world: SharedWorld) {
    let ann = world.user().await;
    let made = ann.pay(100).await;
    let post = ann.publish("A post").await;
    let malformed = [
        "",
        " ",
        &"k".repeat(256),
        "a key",
        "a\tkey",
        "clé",
        "\"",
        "\"\"",
        "\"key",
        "\"ke\"y\"",
        "\"key\"; a=1",
        "key, another",
    ];
    for key in malformed {
        let posts = [
            ann.post("/posts").json(&json!({ "title": "A title" })),
            ann.post(&post.comments()).json(&json!({ "body": "A comment" })),
        ];
        for call in writes_without_key(&ann, &made).into_iter().chain(posts) {
            call.key(key).await.expect_problem(400, "idempotency_key_invalid");
        }
    }
    for call in writes_without_key(&ann, &made) {
        let twice = call.key("a").key("a");
        twice.await.expect_problem(400, "idempotency_key_invalid");
    }
    let anonymous = world.anyone().payment("", &payment());
    anonymous.await.expect_problem(400, "idempotency_key_invalid");
    assert_eq!(
        (
            rows(&ann, &world, "payments").await,
            rows(&ann, &world, "posts").await
        ),
        (1, 1)
    );
}

/// The HTTP parser rejects these requests.
async fn control_characters_in_keys_are_rejected(world: SharedWorld) {
    let ann = world.user().await;
    for character in ['\x01', '\x7f', '\0'] {
        let mut raw = RawConnection::connect(world.api_ports()[0]).await;
        let (sid, csrf, body) = (&ann.sid, &ann.csrf, payment());
        raw.send(format!(
            "POST /payments HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: sid={sid}; csrf={csrf}\r\n\
             x-csrf-token: {csrf}\r\nidempotency-key: a{character}b\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.to_string().len()
        ))
        .await;
        let answer = raw.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert_eq!(rows(&ann, &world, "payments").await, 0);
}

async fn keys_are_visible_ascii_bare_or_quoted(world: SharedWorld) {
    let ann = world.user().await;
    for key in ["!", "~", "a/b?c=d", "{}", &"k".repeat(255), "'x'", "x\"", "1"] {
        let made = ann.payment(key, &payment()).await.expect(201);
        assert!(!made.has("idempotent-replayed"), "{made}");
    }
    let bare = fresh_key();
    let made = ann.payment(&bare, &payment()).await.expect(201);
    let quoted = ann.payment(&format!("\"{bare}\""), &payment()).await;
    super::expect_replay(&quoted, &made);
    let escaped = ann.payment("\"a\\\"b\\\\c\"", &payment()).await.expect(201);
    super::expect_replay(&ann.payment("a\"b\\c", &payment()).await, &escaped);
    assert_eq!(rows(&ann, &world, "payments").await, 10);
}

async fn posts_and_comments_without_a_key_are_created_each_time(world: SharedWorld) {
    let ann = world.user().await;
    let mut ids: Vec<Value> = Vec::new();
    for _ in 0..2 {
        let made = ann.post("/posts").json(&json!({ "title": "A title" }));
        let made = made.await.expect(201);
        assert!(!made.has("idempotent-replayed"), "{made}");
        ids.push(made.json()["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(rows(&ann, &world, "idempotency_keys").await, 0);
}

on_every_shape!(
    a_missing_key_precedes_all_other_errors,
    malformed_keys_are_rejected,
    control_characters_in_keys_are_rejected,
    keys_are_visible_ascii_bare_or_quoted,
    posts_and_comments_without_a_key_are_created_each_time,
);
