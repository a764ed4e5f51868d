//! The public keys of clients: JWK sets (RFC 7517 §5) with keys for RS256 and ES256 (RFC 7518 §3.3, §3.4).

use foundation::secret;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use std::collections::BTreeSet;

/// The algorithms of client assertions.
pub const ALGORITHMS: [&str; 2] = ["RS256", "ES256"];

/// The longest JWK set, in bytes.
pub const MAX_JWKS_BYTES: usize = 64 * 1024;

/// The most keys of a client.
const MAX_KEYS: usize = 10;
/// The sizes of an RSA modulus, in bytes: 2048 to 8192 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// Fails with a message if a JWK set cannot verify assertions or has a private key.
pub(super) fn check(jwks: &Value) -> Result<(), String> {
    let keys = jwks["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    if keys.is_empty() || keys.len() > MAX_KEYS {
        return Err(format!(
            "the JWK set must have 1 to {MAX_KEYS} keys in the member \"keys\""
        ));
    }
    let mut ids = BTreeSet::new();
    for (n, key) in (1..).zip(keys) {
        check_key(key).map_err(|flaw| format!("key {n} of the JWK set {flaw}"))?;
        if !ids.insert(key["kid"].as_str()) {
            return Err("several keys of the JWK set need different kids".to_owned());
        }
    }
    Ok(())
}

fn check_key(key: &Value) -> Result<(), &'static str> {
    if secret::has_private_member(key) {
        return Err("is private: register the public key only, and replace this one");
    }
    let key: Jwk = serde_json::from_value(key.clone()).map_err(|_| "is not a JWK")?;
    let is_long_enough = match &key.algorithm {
        AlgorithmParameters::RSA(rsa) => {
            secret::decode(&rsa.n).is_some_and(|modulus| MODULUS_BYTES.contains(&modulus.len()))
        }
        AlgorithmParameters::EllipticCurve(_) => true,
        _ => false,
    };
    let algorithm = algorithm_of(&key).filter(|_| is_long_enough);
    let is_usable = algorithm.is_some() && DecodingKey::from_jwk(&key).is_ok();
    is_usable
        .then_some(())
        .ok_or("must be an RSA key of 2048 to 8192 bits or an EC key on the curve P-256")
}

/// Returns the keys of a JWK set that are for this algorithm and, if the assertion names one, have this
/// `kid`.
pub(super) fn verification_keys(jwks: &Value, algorithm: Algorithm, kid: Option<&str>) -> Vec<DecodingKey> {
    let set: Option<JwkSet> = serde_json::from_value(jwks.clone()).ok();
    let keys = set.map(|set| set.keys).unwrap_or_default().into_iter();
    keys.filter(|key| algorithm_of(key) == Some(algorithm))
        .filter(|key| kid.is_none() || key.common.key_id.as_deref() == kid)
        .filter_map(|key| DecodingKey::from_jwk(&key).ok())
        .collect()
}

fn algorithm_of(key: &Jwk) -> Option<Algorithm> {
    match &key.algorithm {
        AlgorithmParameters::RSA(_) => Some(Algorithm::RS256),
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => Some(Algorithm::ES256),
        _ => None,
    }
}
