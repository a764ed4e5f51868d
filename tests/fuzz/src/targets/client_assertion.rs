//! Client assertions (RFC 7523): the header and the claims of an assertion that passes all checks before the
//! look-up of its client also pass checks of the parsed JSON.

use crate::harness::{ISSUER, NOW, empty_database, text, wait};
use foundation::secret;
use http_client::{Guard, GuardedClient};
use identity::clients::Clients;
use issuer::clients::assertions::{
    AssertionAudience, AssertionError, PresentedAssertion, Recipient, authenticate_by_assertion,
};
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
    let is_accepted_for = |audience| {
        let clients = Clients::new(empty_database().clone());
        let recipient = Recipient { issuer: ISSUER, audience };
        let refusal = wait(authenticate_by_assertion(&clients, &PUBLISHED, empty_database(), recipient, presented, NOW));
        match refusal {
            // The client was looked up, in a database without tables.
            Err(AssertionError::Database(_)) => true,
            Err(_) => false,
            Ok(client) => unreachable!("{client:?}"),
        }
    };
    let (is_accepted, is_for_issuer) =
        (is_accepted_for(AssertionAudience::Any), is_accepted_for(AssertionAudience::Issuer));
    if !is_accepted {
        assert!(!is_for_issuer);
        return;
    }
    let claims: Value = serde_json::from_slice(payload).expect("accepted claims are JSON");
    let header: Value = serde_json::from_slice(header).expect("an accepted header is JSON");
    assert!(header["crit"].is_null() && header["alg"].is_string());
    assert!(claims["iss"] == claims["sub"] && text(payload).is_some());
    let is_for_us =
        |audience: &Value| ["", "/token", "/par"].iter().any(|path| *audience == format!("{ISSUER}{path}"));
    let audiences = claims["aud"].as_array().map_or(std::slice::from_ref(&claims["aud"]), Vec::as_slice);
    assert!(audiences.iter().any(is_for_us));
    assert_eq!(is_for_issuer, claims["aud"] == ISSUER);
    let expires_in = claims["exp"].as_i64().expect("exp") - NOW.seconds();
    assert!((1..=3630).contains(&expires_in));
    assert!(["iat", "nbf"].iter().all(|name| claims[name].as_i64().is_none_or(|at| at <= NOW.seconds() + 30)));
}
