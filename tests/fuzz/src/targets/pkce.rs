//! PKCE (RFC 7636): an accepted verifier and an accepted challenge have the syntax of the RFC, and the
//! challenge of an accepted verifier is accepted.

use crate::harness::text;
use foundation::secret;
use issuer::pkce::{CodeChallenge, CodeVerifier};

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    if let Ok(challenge) = CodeChallenge::parse(text, "S256") {
        let hash = secret::decode(text).expect("a challenge is base64url");
        assert_eq!((challenge.as_str(), text.len()), (secret::encode(&hash).as_str(), 43));
    }
    if let Ok(verifier) = CodeVerifier::parse(Some(text)) {
        assert!((43..=128).contains(&text.len()));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)));
        let challenge = verifier.challenge();
        assert_eq!(CodeChallenge::parse(challenge.as_str(), "S256"), Ok(challenge));
    }
}
