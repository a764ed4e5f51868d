//! Documents that are refused, and the limits of fetches.

use super::super::assertions::key::Key;
use super::super::refused_responses;
use super::{DescribedApp, consent_page, document, expect_refused, open, start};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::{Duration, Instant};
use tests::{CALLBACK, Sentinel, Shape, on_every_shape, response};

const SECOND: Duration = Duration::from_secs(1);
const JSON: &str = "Content-Type: application/json\r\n";

/// Members of documents, with a part of the reason for which they are refused.
fn refused_members() -> Vec<(Value, &'static str)> {
    let many: Vec<String> = (0..21).map(|n| format!("{CALLBACK}/{n}")).collect();
    let key = Key::rsa("rsa").jwk();
    let mut private = key.clone();
    private["d"] = json!("AQAB");
    let with_keys = |jwks: Value| json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks": jwks });
    vec![
        (json!({ "client_id": null }), "its client_id is not"),
        (
            json!({ "client_id": "https://app.test/client.json" }),
            "its client_id is not",
        ),
        (json!({ "client_id": 1 }), "client_id must be a string"),
        (json!({ "client_secret": "a secret" }), "client_secret"),
        (json!({ "client_secret_expires_at": 0 }), "client_secret"),
        (
            json!({ "token_endpoint_auth_method": "client_secret_basic" }),
            "token_endpoint_auth_method",
        ),
        (
            json!({ "token_endpoint_auth_method": "client_secret_post" }),
            "token_endpoint_auth_method",
        ),
        (
            json!({ "token_endpoint_auth_method": "client_secret_jwt" }),
            "token_endpoint_auth_method",
        ),
        (
            json!({ "token_endpoint_auth_method": "private_key_jwt" }),
            "needs jwks or jwks_uri",
        ),
        (with_keys(json!({ "keys": [] })), "1 to 10 keys"),
        (with_keys(json!({ "keys": [private] })), "is private"),
        (
            json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://10.0.0.1/jwks" }),
            "jwks_uri",
        ),
        (
            json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks": { "keys": [key] },
                    "jwks_uri": "https://app.test/jwks" }),
            "not both",
        ),
        (json!({ "redirect_uris": null }), "1 to 20 redirect URIs"),
        (json!({ "redirect_uris": [] }), "1 to 20 redirect URIs"),
        (json!({ "redirect_uris": many }), "1 to 20 redirect URIs"),
        (json!({ "redirect_uris": CALLBACK }), "array of strings"),
        (
            json!({ "redirect_uris": [CALLBACK, "http://app.test/cb"] }),
            "plain http",
        ),
        (
            json!({ "redirect_uris": [CALLBACK, "javascript:alert(1)"] }),
            "scheme",
        ),
        (
            json!({ "redirect_uris": [CALLBACK, "https://*.app.test/cb"] }),
            "wildcard",
        ),
        (json!({ "grant_types": ["implicit"] }), "grant_types"),
        (json!({ "response_types": ["token"] }), "response_types"),
        (json!({ "scope": "admin" }), "the scope has none"),
        (json!({ "client_name": " " }), "printable"),
        (json!({ "client_name": "a".repeat(101) }), "printable"),
    ]
}

async fn an_unacceptable_document_is_refused_with_the_reason(shape: Shape) {
    let world = start(shape).await;
    let described = DescribedApp::start(json!({})).await;
    let user = world.user().await;
    for (members, reason) in refused_members() {
        described.publish(members);
        expect_refused(&user, &described.app, reason).await;
        world.advance(SECOND);
    }
    // No error is cached, and a refused app leaves nothing behind.
    assert_eq!(described.fetches(), refused_members().len());
    let shown = world.run(&["clients", "show", &described.app.id], "");
    assert!(!shown.status.success(), "{shown:?}");
    let mut most: Vec<String> = (1..20).map(|n| format!("{CALLBACK}/{n}")).collect();
    most.push(CALLBACK.to_owned());
    let members = json!({ "unknown_member": [1, { "a": null }], "logo_uri": null, "redirect_uris": most });
    described.publish(members);
    consent_page(&user, &described.app).await;
}

async fn another_response_than_a_document_is_refused(shape: Shape) {
    let world = start(shape).await;
    let described = DescribedApp::start(json!({})).await;
    let (user, other, sentinel) = (world.user().await, world.user().await, Sentinel::start());
    let good = document(&described.app.id, json!({})).to_string();
    let long = format!("{good}{}", " ".repeat(5 * 1024));
    let chunk = format!("{:x}\r\n{long}\r\n", long.len());
    let refused = refused_responses("203 Non-Authoritative Information", &good, &sentinel);
    let further = [
        (response("200 OK", JSON, &long), "longer than 5120 bytes"),
        (
            format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n\r\n"),
            "longer than 5120 bytes",
        ),
        (response("200 OK", JSON, ""), "the body is not valid"),
        (response("200 OK", JSON, "[]"), "must be a JSON object"),
        (
            response(
                "200 OK",
                JSON,
                &format!(r#"{{"scope":"openid","scope":"email",{}"#, &good[1..]),
            ),
            "the body is not valid",
        ),
        ("nonsense\r\n\r\n".to_owned(), "cannot be reached"),
    ];
    for (response, reason) in refused.into_iter().chain(further) {
        described.server.answer_raw(&response);
        expect_refused(&user, &described.app, reason).await;
        let fetches = described.fetches();
        expect_refused(&user, &described.app, reason).await;
        assert!(
            described.fetches() < fetches + world.issuer_ports().len(),
            "{reason}"
        );
        world.advance(SECOND);
    }
    sentinel.expect_no_connection();
    let largest = format!("{good}{}", " ".repeat(5 * 1024 - good.len()));
    described.server.answer_raw(&response("200 OK", JSON, &largest));
    consent_page(&other, &described.app).await;
}

/// A slow server of one app holds up no other.
async fn a_fetch_of_a_document_ends_after_five_seconds(shape: Shape) {
    let world = start(shape).await;
    let (slow, fast) = (
        DescribedApp::start(json!({})).await,
        DescribedApp::start(json!({})).await,
    );
    let user = world.user().await;
    slow.server
        .answer_slowly(&response("200 OK", JSON, &" ".repeat(5_000)));
    let began = Instant::now();
    let slow_ended = Cell::new(false);
    tokio::join!(
        async {
            expect_refused(&user, &slow.app, "did not answer within 5 s").await;
            slow_ended.set(true);
        },
        async {
            consent_page(&user, &fast.app).await;
            assert!(!slow_ended.get(), "the other app waited");
        }
    );
    let elapsed = began.elapsed();
    assert!(elapsed >= Duration::from_secs(5), "{elapsed:?}");
}

async fn a_user_causes_thirty_fetches_an_hour(shape: Shape) {
    const LIMIT: usize = 30;
    let world = start(shape).await;
    let (user, other) = (world.user().await, world.user().await);
    let described = DescribedApp::start(json!({})).await;
    let app_number = |n: usize| super::app_at(&format!("{}/{n}", described.server.url));
    for n in 0..LIMIT {
        // The document is that of another URL.
        expect_refused(&user, &app_number(n), "its client_id is not").await;
    }
    let page = open(&mut user.browser(), &app_number(LIMIT)).await;
    assert_eq!(page.reply.status, 429, "{}", page.reply);
    assert!(page.reply.header("retry-after").parse::<u64>().unwrap() <= 3600);
    page.expect_page_within_origin();
    assert_eq!(described.fetches(), LIMIT);
    consent_page(&other, &described.app).await;
    // A known app needs no fetch.
    consent_page(&user, &described.app).await;
}

/// The limit of a network is counted for all of its users.
async fn a_network_causes_120_fetches_an_hour(shape: Shape) {
    const PER_USER: usize = 30;
    let world = start(shape).await;
    let described = DescribedApp::start(json!({})).await;
    let app_number = |n: usize| super::app_at(&format!("{}/{n}", described.server.url));
    for round in 0..4 {
        let user = world.user().await;
        for n in 0..PER_USER {
            expect_refused(&user, &app_number(round * PER_USER + n), "its client_id is not").await;
        }
    }
    let user = world.user().await;
    let page = open(&mut user.browser(), &described.app).await;
    assert_eq!(page.reply.status, 429, "{}", page.reply);
    assert_eq!(described.fetches(), 4 * PER_USER);
    world.advance(Duration::from_secs(3601));
    let user = world.log_in(&user.email, &user.password).await;
    consent_page(&user, &described.app).await;
}

on_every_shape!(
    an_unacceptable_document_is_refused_with_the_reason,
    another_response_than_a_document_is_refused,
    a_fetch_of_a_document_ends_after_five_seconds,
    a_user_causes_thirty_fetches_an_hour,
    a_network_causes_120_fetches_an_hour,
);
