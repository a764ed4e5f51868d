//! PKCE (RFC 7636). Every client must use S256.

use foundation::secret;

/// `code_challenge`: the base64url SHA-256 of a verifier, 43 characters (§4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

/// `code_verifier`: 43 to 128 unreserved characters (§4.1).
pub struct CodeVerifier(String);

impl CodeChallenge {
    /// Parses `code_challenge` and `code_challenge_method`, which are empty if omitted. Fails unless the
    /// method is S256 and the challenge is well-formed. The error message addresses the client's developer.
    pub fn parse(challenge: &str, method: &str) -> Result<Self, &'static str> {
        if method != "S256" {
            return Err("code_challenge_method must be S256");
        }
        if challenge.is_empty() {
            return Err("code_challenge is required");
        }
        match secret::decode(challenge) {
            Some(hash) if hash.len() == 32 => Ok(Self(challenge.to_owned())),
            _ => Err(
                "code_challenge must be the base64url SHA-256 of the code_verifier: 43 characters, no padding",
            ),
        }
    }

    /// Returns the challenge as sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CodeVerifier {
    /// Parses `code_verifier`. Fails if it is omitted or malformed. The error message addresses the client's
    /// developer.
    pub fn parse(text: Option<&str>) -> Result<Self, &'static str> {
        let text = text.ok_or("code_verifier is required")?;
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if !(43..=128).contains(&text.len()) || !text.bytes().all(unreserved) {
            return Err("code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~");
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the challenge of this verifier (§4.6).
    pub fn challenge(&self) -> CodeChallenge {
        CodeChallenge(secret::encode(&secret::hash(&self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_rfc_verifies() {
        let verifier = CodeVerifier::parse(Some(VERIFIER)).unwrap();
        assert_eq!(verifier.challenge().as_str(), CHALLENGE);
        assert!(CodeChallenge::parse(CHALLENGE, "S256").is_ok());
    }

    #[test]
    fn only_s256_challenges_of_43_characters_parse() {
        for method in ["", "plain", "s256", "S512"] {
            assert!(CodeChallenge::parse(CHALLENGE, method).is_err(), "{method:?}");
        }
        let (short, long) = (&CHALLENGE[1..], format!("{CHALLENGE}A"));
        let padded = format!("{CHALLENGE}=");
        for challenge in [
            short,
            &long,
            &padded,
            &CHALLENGE.replace('-', "+"),
            &"é".repeat(22),
            "",
        ] {
            assert!(CodeChallenge::parse(challenge, "S256").is_err(), "{challenge}");
        }
    }

    #[test]
    fn verifiers_have_43_to_128_unreserved_characters() {
        for good in ["a".repeat(43), "~".repeat(128)] {
            assert!(CodeVerifier::parse(Some(&good)).is_ok());
        }
        for bad in [
            String::new(),
            "a".repeat(42),
            "a".repeat(129),
            format!("{}+", "a".repeat(43)),
        ] {
            assert!(CodeVerifier::parse(Some(&bad)).is_err(), "{bad}");
        }
    }
}
