//! A JWK set (RFC 7517 §5), as far as it holds keys for RS256.

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};
use serde_json::Value;
use shared::{http::json, secret};
use std::collections::HashMap;
use std::sync::Arc;

/// Keys by `kid`; never empty.
#[derive(Debug)]
pub(super) struct KeySet(HashMap<String, PublicKey>);

/// A key that is parsed once, and checks RS256 signatures and no others: which algorithm, a token has no
/// say in (RFC 8725 §3.1). A modulus under 2048 bits verifies nothing.
#[derive(Clone, Debug)]
pub(crate) struct PublicKey(Arc<ParsedPublicKey>);

impl KeySet {
    /// Reads a set. Keys of other kinds are passed over, as are keys that share a `kid`: which of them is
    /// meant, nobody can know.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let set = json::parse(bytes).map_err(|error| format!("no JWK set: {error}"))?;
        let listed = set.get("keys").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| "no JWK set: it has no list of keys".to_owned())?;
        let mut keys = HashMap::<_, Vec<_>>::new();
        for (kid, key) in listed.iter().filter_map(read_key) {
            keys.entry(kid).or_default().push(key);
        }
        let unique = |(kid, mut keys): (String, Vec<PublicKey>)| {
            let key = keys.pop()?;
            keys.is_empty().then_some((kid, key))
        };
        let keys: HashMap<_, _> = keys.into_iter().filter_map(unique).collect();
        if keys.is_empty() {
            return Err("a JWK set without a key for RS256".to_owned());
        }
        Ok(Self(keys))
    }

    /// The key of this `kid`.
    pub(super) fn get(&self, kid: &str) -> Option<PublicKey> {
        self.0.get(kid).cloned()
    }
}

impl PublicKey {
    /// Whether the signature (RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 §3.3) is this key's.
    pub(crate) fn has_signed(&self, message: &str, signature: &[u8]) -> bool {
        self.0.verify_sig(message.as_bytes(), signature).is_ok()
    }
}

/// Reads an RSA key that may sign with RS256 (RFC 7517 §4, RFC 7518 §6.3.1).
fn read_key(jwk: &Value) -> Option<(String, PublicKey)> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let is_or_absent = |name: &str, value: &str| jwk.get(name).is_none_or(|found| found == value);
    let suits = text("kty") == Some("RSA") && is_or_absent("use", "sig") && is_or_absent("alg", "RS256");
    let (kid, n, e) = (text("kid")?, text("n")?, text("e")?);
    let components = PublicKeyComponents {
        n: secret::decode(n)?,
        e: secret::decode(e)?,
    };
    let key = components
        .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
        .ok()?;
    suits.then(|| (kid.to_owned(), PublicKey(Arc::new(key))))
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
        let mut kids: Vec<String> = match KeySet::read(set.as_bytes()) {
            Ok(set) => set.0.into_keys().collect(),
            Err(_) => Vec::new(),
        };
        kids.sort();
        kids
    }

    #[test]
    fn keys_for_rs256_are_kept_and_others_passed_over() {
        let keys = json!([
            key("plain", &json!({})),
            key("full", &json!({ "use": "sig", "alg": "RS256" })),
            key("encrypts", &json!({ "use": "enc" })),
            key("other-alg", &json!({ "alg": "RS512" })),
            key("elliptic", &json!({ "kty": "EC" })),
            key("broken", &json!({ "n": "?" })),
            key("broken-too", &json!({ "n": "" })),
            json!({ "kty": "RSA", "n": "wcE", "e": "AQAB" }),
            json!("no object"),
        ]);
        assert_eq!(kids(&keys), ["full", "plain"]);
    }

    #[test]
    fn keys_that_share_a_kid_are_passed_over_and_a_set_without_keys_is_none() {
        let keys = json!([key("a", &json!({})), key("a", &json!({})), key("b", &json!({}))]);
        assert_eq!(kids(&keys), ["b"]);
        assert!(kids(&json!([])).is_empty());
        for text in ["", "{}", "[]", r#"{"keys":[],"keys":[]}"#] {
            assert!(KeySet::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
