//! The public key in the header of a proof, its algorithm and its thumbprint (RFC 7638).

use crate::error::{Error, ensure};
use foundation::secret;
use jsonwebtoken::jwk::{AlgorithmParameters, CommonParameters, EllipticCurve, Jwk, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

/// The algorithms of proofs, as in the metadata (RFC 9449 §5.1). All of them are asymmetric.
pub const ALGORITHMS: [&str; 5] = ["ES256", "RS256", "PS256", "EdDSA", "Ed25519"];

/// The sizes of an RSA modulus, in bytes: 2048 to 4096 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=512;
/// The longest RSA exponent, in bytes. All libraries choose 65537.
const MAX_EXPONENT_BYTES: usize = 4;
/// The length of a coordinate of a point on P-256 and of a public key of Ed25519, in bytes.
const COORDINATE_BYTES: usize = 32;

/// The public key of a proof.
pub(crate) struct ProofKey {
    /// The algorithm that the header names.
    pub(crate) algorithm: Algorithm,
    /// The key that verifies the signature.
    pub(crate) key: DecodingKey,
    /// The SHA-256 thumbprint in base64url (RFC 7638 §3).
    pub(crate) thumbprint: String,
}

/// Returns whether a text has the form of a SHA-256 thumbprint in base64url (RFC 9449 §10).
pub fn is_thumbprint(text: &str) -> bool {
    secret::decode(text).is_some_and(|hash| hash.len() == 32)
}

impl ProofKey {
    /// Reads the members `alg` and `jwk` of a header. Fails unless `jwk` is a public key for `alg`, of a
    /// permitted size.
    pub(crate) fn read(alg: &str, jwk: &Value) -> Result<Self, Error> {
        const NOT_FOR_ALG: Error = Error::Invalid("its jwk is not a public key for its alg");
        let algorithm = algorithm(alg).ok_or(Error::Invalid("its alg is not supported"))?;
        ensure(jwk.is_object(), "its jwk is missing or not an object")?;
        ensure(!secret::has_private_member(jwk), "its jwk has a private key")?;
        let parameters: AlgorithmParameters = serde_json::from_value(jwk.clone()).map_err(|_| NOT_FOR_ALG)?;
        if !is_for(&parameters, algorithm) {
            return Err(NOT_FOR_ALG);
        }
        // The members use, alg and kid say nothing that the signature does not prove.
        let jwk = Jwk {
            common: CommonParameters::default(),
            algorithm: parameters,
        };
        Ok(Self {
            algorithm,
            key: DecodingKey::from_jwk(&jwk).map_err(|_| NOT_FOR_ALG)?,
            thumbprint: jwk.thumbprint(ThumbprintHash::SHA256).map_err(|_| NOT_FOR_ALG)?,
        })
    }
}

fn algorithm(alg: &str) -> Option<Algorithm> {
    match alg {
        "ES256" => Some(Algorithm::ES256),
        "RS256" => Some(Algorithm::RS256),
        "PS256" => Some(Algorithm::PS256),
        // Two names of one algorithm (RFC 8037 §3.1, RFC 9864 §2.2), because the only curve is Ed25519.
        "EdDSA" | "Ed25519" => Some(Algorithm::EdDSA),
        _ => None,
    }
}

/// Returns whether these are the members of a key for this algorithm, each in base64url and of its length.
fn is_for(parameters: &AlgorithmParameters, algorithm: Algorithm) -> bool {
    let length = |text: &str| secret::decode(text).map(|bytes| bytes.len());
    let is_coordinate = |text: &str| length(text) == Some(COORDINATE_BYTES);
    match (parameters, algorithm) {
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => {
            key.curve == EllipticCurve::P256 && is_coordinate(&key.x) && is_coordinate(&key.y)
        }
        (AlgorithmParameters::RSA(key), Algorithm::RS256 | Algorithm::PS256) => {
            length(&key.n).is_some_and(|length| MODULUS_BYTES.contains(&length))
                && length(&key.e).is_some_and(|length| length <= MAX_EXPONENT_BYTES)
        }
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => {
            key.curve == EllipticCurve::Ed25519 && is_coordinate(&key.x)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_thumbprint_is_that_of_rfc_7638() {
        let jwk = json!({
            "kty": "RSA", "alg": "RS256", "kid": "2011-04-29", "e": "AQAB",
            "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj\
                  hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ\
                  vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK\
                  nqDKgw"
        });
        let key = ProofKey::read("RS256", &jwk).ok().unwrap();
        assert_eq!(key.thumbprint, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
        assert!(is_thumbprint(&key.thumbprint));
        assert!(ProofKey::read("ES256", &jwk).is_err());
        let mut small = jwk.clone();
        small["n"] = json!(secret::encode(&[0xff; 255]));
        assert!(ProofKey::read("RS256", &small).is_err());
        let mut large = jwk;
        large["n"] = json!(secret::encode(&[0xff; 513]));
        assert!(ProofKey::read("RS256", &large).is_err());
    }

    #[test]
    fn the_thumbprint_of_an_ed25519_key_is_that_of_rfc_8037() {
        let jwk =
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
        for alg in ["EdDSA", "Ed25519"] {
            let key = ProofKey::read(alg, &jwk).ok().unwrap();
            assert_eq!(key.thumbprint, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        }
    }

    #[test]
    fn only_public_keys_for_asymmetric_algorithms_are_read() {
        let point = secret::encode(&[1; 32]);
        let ec = json!({ "kty": "EC", "crv": "P-256", "x": point, "y": point });
        assert!(ProofKey::read("ES256", &ec).is_ok());
        for alg in ["none", "HS256", "ES384", "es256", "RS256", ""] {
            assert!(ProofKey::read(alg, &ec).is_err(), "{alg}");
        }
        let with = |name: &str, value: Value| {
            let mut jwk = ec.clone();
            jwk[name] = value;
            jwk
        };
        for jwk in [
            with("d", json!(point)),
            with("d", Value::Null),
            with("k", json!("c2VjcmV0")),
            with("crv", json!("P-384")),
            with("kty", json!("RSA")),
            with("x", json!(secret::encode(&[1; 31]))),
            with("x", json!("%")),
            with("y", Value::Null),
            json!({ "kty": "oct", "k": "c2VjcmV0" }),
            json!("key"),
            Value::Null,
        ] {
            assert!(ProofKey::read("ES256", &jwk).is_err(), "{jwk}");
        }
    }

    #[test]
    fn a_thumbprint_has_32_bytes() {
        for text in [
            "",
            "a",
            &"A".repeat(42),
            &"A".repeat(44),
            &format!("{}=", "A".repeat(43)),
        ] {
            assert!(!is_thumbprint(text), "{text}");
        }
    }
}
