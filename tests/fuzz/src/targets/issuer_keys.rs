//! The JWK set of the issuer: a `kid` that is found belongs to an RSA key of the set.

use access_tokens::KeySet;
use serde_json::Value;

pub(super) fn check(input: &[u8]) {
    let Ok(set) = KeySet::parse(input) else { return };
    let json = foundation::json::parse(input).expect("an accepted set is JSON");
    let keys = json["keys"].as_array().expect("an accepted set has keys");
    let kids: Vec<&str> = keys.iter().filter_map(|key| key["kid"].as_str()).collect();
    assert!(kids.iter().any(|kid| set.get(kid).is_some()));
    for kid in kids.into_iter().filter(|kid| set.get(kid).is_some()) {
        let is_rsa = |key: &&Value| key["kid"] == kid && key["kty"] == "RSA";
        assert!(keys.iter().filter(is_rsa).count() >= 1);
    }
}
