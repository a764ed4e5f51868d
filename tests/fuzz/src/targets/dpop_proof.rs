//! DPoP proofs (RFC 9449): the header and the claims of an accepted proof also pass checks of the parsed
//! JSON.

use crate::harness::{ISSUER, NOW};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use dpop::{ProvenRequest, is_thumbprint, verify};
use foundation::secret;
use serde_json::Value;
use std::sync::LazyLock;

/// The text of an input in whose place the header has the public key.
const KEY: &str = "\"KEY\"";
const TOKEN: &str = "token";

static CLIENT: LazyLock<(EcdsaKeyPair, String)> = LazyLock::new(|| {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key pair");
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    let (x, y) = (secret::encode(x), secret::encode(y));
    let jwk = format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#);
    (pair, jwk)
});

/// The input is the header and the claims, separated by a line break. They are signed, so that a proof can be
/// accepted. The same proof with another signature must be refused.
pub(super) fn check(input: &[u8]) {
    let (pair, jwk) = &*CLIENT;
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let (header, claims) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let header = String::from_utf8_lossy(header).replacen(KEY, jwk, 1);
    let message = format!("{}.{}", secret::encode(header.as_bytes()), secret::encode(claims));
    let signature = pair.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
    let mut signature = signature.as_ref().to_vec();
    let verify = |signature: &[u8]| {
        let request = ProvenRequest {
            proof: &format!("{message}.{}", secret::encode(signature)),
            method: "POST",
            url: &format!("{ISSUER}/token"),
            access_token: Some(TOKEN),
        };
        verify(request, NOW)
    };
    let Ok(proof) = verify(&signature) else {
        return;
    };
    signature[0] ^= 1;
    assert!(verify(&signature).is_err());
    let header: Value = serde_json::from_str(&header).expect("an accepted header is JSON");
    let claims: Value = serde_json::from_slice(claims).expect("accepted claims are JSON");
    assert!(header["typ"].as_str().is_some_and(|typ| typ.eq_ignore_ascii_case("dpop+jwt")));
    assert!(header["alg"] == "ES256" && header["jwk"]["kty"] == "EC" && header.get("crit").is_none());
    assert!(header["jwk"].get("d").is_none() && is_thumbprint(&proof.thumbprint));
    assert!(claims["jti"] == proof.jti && !proof.jti.is_empty() && proof.jti.len() <= 256);
    assert!(claims["htm"] == "POST" && claims["nonce"].as_str() == proof.nonce.as_deref());
    let htu = url::Url::parse(claims["htu"].as_str().expect("htu")).expect("a URL");
    assert_eq!(htu.origin().ascii_serialization(), ISSUER);
    assert_eq!(claims["ath"], secret::encode(&secret::hash(TOKEN)));
    #[allow(clippy::cast_precision_loss, reason = "seconds of this century are exact")]
    let age = NOW.seconds() as f64 - claims["iat"].as_f64().expect("a number");
    assert!((-30.0..60.0).contains(&age));
}
