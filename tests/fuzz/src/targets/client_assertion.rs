//! Client assertions (RFC 7523): the header and the claims of an assertion that passes all checks before the look-up of
//! its client also pass checks of the parsed JSON.

use crate::harness::{ISSUER, NOW, empty_database, text, wait};
use foundation::secret;
use http_client::{Guard, GuardedClient};
use identity::grants::clients::Clients;
use issuer::clients::assertions::{AssertionError, PresentedAssertion, authenticate_by_assertion};
use issuer::clients::published_keys::PublishedKeys;
use serde_json::Value;
use std::sync::LazyLock;

static PUBLISHED: LazyLock<PublishedKeys> = LazyLock::new(|| {
    let client = GuardedClient::new(Guard::of_server(ISSUER));
    PublishedKeys::new(client.expect("a client"))
});

/// The input is the header and the claims, separated by a line break.
pub(super) fn check(input: &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let (header, payload) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let assertion = format!("{}.{}.c2ln", secret::encode(header), secret::encode(payload));
    let presented = PresentedAssertion {
        assertion: &assertion,
        client_id: None,
    };
    let clients = Clients::new(empty_database().clone());
    let refusal = wait(authenticate_by_assertion(
        &clients,
        &PUBLISHED,
        empty_database(),
        ISSUER,
        presented,
        NOW,
    ));
    match refusal {
        // The client was looked up, in a database without tables.
        Err(AssertionError::Database(_)) => {}
        Err(_) => return,
        Ok(client) => unreachable!("{client:?}"),
    }
    let claims: Value = serde_json::from_slice(payload).expect("accepted claims are JSON");
    let header: Value = serde_json::from_slice(header).expect("an accepted header is JSON");
    assert!(header["crit"].is_null() && header["alg"].is_string());
    assert!(claims["iss"] == claims["sub"] && text(payload).is_some());
    let is_for_us = |audience: &Value| *audience == ISSUER || *audience == format!("{ISSUER}/token");
    let audiences = claims["aud"].as_array().map_or(std::slice::from_ref(&claims["aud"]), Vec::as_slice);
    assert!(audiences.iter().any(is_for_us));
    let expires_in = claims["exp"].as_i64().expect("exp") - NOW.seconds();
    assert!((1..=3630).contains(&expires_in));
    assert!(["iat", "nbf"].iter().all(|name| claims[name].as_i64().is_none_or(|at| at <= NOW.seconds() + 30)));
}
