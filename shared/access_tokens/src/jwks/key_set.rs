//! Parsing of a JWK set (RFC 7517 §5) for the keys that verify RS256 signatures.

use foundation::{json, secret};
use jsonwebtoken::DecodingKey;
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, RsaPublicKey};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The permitted sizes of a modulus, in bytes (RFC 7518 §3.3 requires 2048 bits or more).
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// The keys of a set by their `kid`. There is at least one.
#[derive(Debug)]
pub struct KeySet(HashMap<String, Arc<DecodingKey>>);

impl KeySet {
    /// Parses a JWK set. Keys that are not for RS256 are ignored, and so are keys with the same `kid`,
    /// because the `kid` is then ambiguous. Fails if no key is left.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let set = json::parse(bytes).map_err(|error| format!("the response is not a JWK set: {error}"))?;
        let listed = set.get("keys").and_then(Value::as_array);
        let listed =
            listed.ok_or_else(|| "the response is not a JWK set: it has no array keys".to_owned())?;
        let mut by_kid = HashMap::<_, Vec<_>>::new();
        for (kid, key) in listed.iter().filter_map(parse_key) {
            by_kid.entry(kid).or_default().push(key);
        }
        let unique = |(kid, mut keys): (String, Vec<DecodingKey>)| {
            let key = keys.pop()?;
            keys.is_empty().then_some((kid, Arc::new(key)))
        };
        let keys: HashMap<_, _> = by_kid.into_iter().filter_map(unique).collect();
        if keys.is_empty() {
            return Err("the JWK set has no key for RS256".to_owned());
        }
        Ok(Self(keys))
    }

    /// Returns the `kid` of each key, in alphabetical order.
    pub(super) fn kids(&self) -> Vec<String> {
        let mut kids: Vec<String> = self.0.keys().cloned().collect();
        kids.sort();
        kids
    }

    /// Returns the key with this `kid`.
    pub fn get(&self, kid: &str) -> Option<Arc<DecodingKey>> {
        self.0.get(kid).cloned()
    }
}

/// Parses an RSA public key for RS256 and its `kid` (RFC 7517 §4, RFC 7518 §6.3.1); `None` if the JWK is for
/// another algorithm or malformed.
fn parse_key(jwk: &Value) -> Option<(String, DecodingKey)> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let is_or_absent = |name: &str, value: &str| jwk.get(name).is_none_or(|found| found == value);
    let is_for_rs256 =
        text("kty") == Some("RSA") && is_or_absent("use", "sig") && is_or_absent("alg", "RS256");
    let (kid, n, e) = (
        text("kid")?,
        secret::decode(text("n")?)?,
        secret::decode(text("e")?)?,
    );
    if !is_for_rs256 || !is_valid_rsa_key(&n, &e) {
        return None;
    }
    Some((kid.to_owned(), DecodingKey::from_rsa_raw_components(&n, &e)))
}

/// Returns whether the modulus has a permitted size, the exponent is odd and within the bounds of
/// [`RsaPublicKey`], and neither begins with a zero (RFC 7518 §2): aws-lc-rs would verify no signature.
fn is_valid_rsa_key(modulus: &[u8], exponent: &[u8]) -> bool {
    if modulus.starts_with(&[0]) || exponent.starts_with(&[0]) {
        return false;
    }
    let (n, e) = (BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent));
    let max_bits = MODULUS_BYTES.end() * 8;
    RsaPublicKey::new_with_max_size(n, e, max_bits).is_ok_and(|key| MODULUS_BYTES.contains(&key.size()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(kid: &str, others: &Value) -> Value {
        let mut key = json!({ "kty": "RSA", "kid": kid, "n": secret::encode(&[0xc1; 256]), "e": "AQAB" });
        for (name, value) in others.as_object().unwrap() {
            key[name] = value.clone();
        }
        key
    }

    fn kids(keys: &Value) -> Vec<String> {
        let set = json!({ "keys": keys }).to_string();
        KeySet::parse(set.as_bytes()).map_or_else(|_| Vec::new(), |set| set.kids())
    }

    #[test]
    fn keys_for_rs256_are_kept_and_others_are_ignored() {
        let zero_first = [vec![0_u8], vec![0xc1; 256]].concat();
        let keys = json!([
            key("plain", &json!({})),
            key("full", &json!({ "use": "sig", "alg": "RS256" })),
            key("encrypts", &json!({ "use": "enc" })),
            key("other-alg", &json!({ "alg": "RS512" })),
            key("elliptic", &json!({ "kty": "EC" })),
            key("small", &json!({ "n": secret::encode(&[0xc1; 128]) })),
            key("even-exponent", &json!({ "e": "AQAA" })),
            key("zero-first", &json!({ "n": secret::encode(&zero_first) })),
            key("zero-first-exponent", &json!({ "e": "AAEAAQ" })),
            key("broken", &json!({ "n": "?" })),
            key("broken-too", &json!({ "n": "" })),
            json!({ "kty": "RSA", "n": "wcE", "e": "AQAB" }),
            json!("no object"),
        ]);
        assert_eq!(kids(&keys), ["full", "plain"]);
    }

    #[test]
    fn keys_that_share_a_kid_are_ignored_and_a_set_needs_a_key() {
        let keys = json!([key("a", &json!({})), key("a", &json!({})), key("b", &json!({}))]);
        assert_eq!(kids(&keys), ["b"]);
        assert!(kids(&json!([])).is_empty());
        for text in ["", "{}", "[]", r#"{"keys":[],"keys":[]}"#] {
            assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
