//! Secret values, their hashes, constant-time comparison, base64url, and private members of JWKs.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// The members of a JWK that hold private or symmetric keys (RFC 7518 §6).
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A secret string whose `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the SHA-256 hash of the value, to be stored in place of the value. Only for random values of
    /// at least 128 bits; passwords are hashed by `identity::passwords`.
    pub fn hash(&self) -> Vec<u8> {
        hash(&self.0)
    }
}

/// Implements `Debug` for a type whose content must not be logged: only the name of the type is shown.
#[macro_export]
macro_rules! opaque_debug {
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($type), "(…)"))
            }
        }
    };
}

crate::opaque_debug!(Secret);

/// Returns the SHA-256 hash of a text.
pub fn hash(text: &str) -> Vec<u8> {
    aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes())
        .as_ref()
        .to_vec()
}

/// Compares two byte strings in constant time. Returns false at once if their lengths differ.
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(left, right).is_ok()
}

/// Encodes bytes as base64url without padding (RFC 4648 §5).
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes base64url without padding. Returns `None` for any other text.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Returns whether a JWK has a member with a private or a symmetric key, so that it is not a public key.
pub fn has_private_member(jwk: &Value) -> bool {
    PRIVATE_MEMBERS.iter().any(|member| jwk.get(member).is_some())
}
