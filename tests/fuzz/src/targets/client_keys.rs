//! JWK sets of clients: an accepted set has one to ten keys, all of them public.

use crate::harness::{is_accepted, registration};
use identity::clients::ClientType;
use serde_json::Value;

pub(super) fn check(input: &[u8]) {
    let Ok(jwks) = foundation::json::parse(input) else { return };
    if !is_accepted(registration(ClientType::Service, None, Some(jwks.clone()))) {
        return;
    }
    let keys = jwks["keys"].as_array().expect("an accepted set has keys");
    assert!((1..=10).contains(&keys.len()));
    for key in keys {
        assert!(matches!(key["kty"].as_str(), Some("RSA" | "EC")));
        assert!(["d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().all(|name| key[name] == Value::Null));
    }
}
