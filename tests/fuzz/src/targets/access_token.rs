//! Access tokens: the header and the claims of a token that passes all checks before the revocations also
//! pass checks of the parsed JSON.

use crate::harness::{ISSUER, NOW, empty_database, wait};
use access_tokens::{Error, PublicKeys, Verifier};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use foundation::secret;
use jsonwebtoken::DecodingKey;
use revocation::RevocationMirror;
use serde_json::Value;
use std::sync::{Arc, LazyLock};
use storage::notifications::Notifications;

const AUDIENCE: &str = "https://api.example";
const HEADER: &str = r#"{"alg":"RS256","typ":"at+jwt","kid":"k"}"#;

struct OneKey(Arc<DecodingKey>);

impl PublicKeys for OneKey {
    async fn key(&self, kid: &str) -> Result<Option<Arc<DecodingKey>>, String> {
        Ok((kid == "k").then(|| Arc::clone(&self.0)))
    }

    fn publishes(&self, _: &str, _: &Arc<DecodingKey>) -> bool {
        false
    }
}

static ISSUER_KEYS: LazyLock<(KeyPair, Verifier<OneKey>)> = LazyLock::new(|| {
    let pair = KeyPair::generate(KeySize::Rsa2048).expect("a key pair");
    let public = PublicKeyComponents::<Vec<u8>>::from(pair.public_key());
    let key = DecodingKey::from_rsa_raw_components(&public.n, &public.e);
    let revocations = RevocationMirror::new(empty_database(), Notifications::new(None), |_| ());
    let (issuer, audience) = (ISSUER.to_owned(), AUDIENCE.to_owned());
    (pair, Verifier::new(OneKey(Arc::new(key)), revocations, issuer, audience))
});

/// The input is the header and the claims, separated by a line break, or the claims alone. They are signed,
/// so that the checks after the signature are reached. The same token with another signature must be refused.
pub(super) fn check(input: &[u8]) {
    let (pair, verifier) = &*ISSUER_KEYS;
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    let first = parts.next().unwrap_or_default();
    let (header, payload) = parts.next().map_or((HEADER.as_bytes(), first), |claims| (first, claims));
    let message = format!("{}.{}", secret::encode(header), secret::encode(payload));
    let mut signature = vec![0; pair.public_modulus_len()];
    let signed = pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature);
    signed.expect("a signature");
    let verify = |signature: &[u8]| wait(verifier.verify(&format!("{message}.{}", secret::encode(signature)), NOW));
    // The mirror was never filled, so a token that passes all other checks fails at the revocations.
    let Err(Error::Revocations(_)) = verify(&signature) else {
        return;
    };
    signature[0] ^= 1;
    assert!(matches!(verify(&signature), Err(Error::Invalid(_))));
    let [header, claims] = [header, payload].map(|part| serde_json::from_slice::<Value>(part).expect("JSON"));
    assert!(header["alg"] == "RS256" && header["kid"] == "k" && header["crit"].is_null());
    assert!(claims["iss"] == ISSUER && (claims["aud"] == AUDIENCE || claims["aud"][0] == AUDIENCE));
    let id = |name: &str| claims[name].as_str().is_some_and(|id| !id.is_empty());
    assert!(["sub", "client_id", "jti"].into_iter().all(id));
    #[allow(clippy::cast_precision_loss, reason = "seconds of this century are exact")]
    let now = NOW.seconds() as f64;
    let date = |name: &str| claims[name].as_f64().expect("a number");
    assert!(date("exp") > now && (now - 600.0..=now + 30.0).contains(&date("iat")));
}
