//! Parsing of a token's header and claims.

use crate::error::Error;
use crate::member::Member;
use foundation::scope::Scope;
use foundation::{json, secret};
use serde::de::{Deserialize, Deserializer};

/// The members of a JOSE header (RFC 7515 §4) that this API reads.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(crate) struct Header<'a> {
    pub(crate) alg: Member<'a>,
    pub(crate) typ: Member<'a>,
    pub(crate) kid: Member<'a>,
    pub(crate) crit: Member<'a>,
    pub(crate) b64: Member<'a>,
}

/// The claims of an access token (RFC 9068 §2.2) that this API reads.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(crate) struct Claims<'a> {
    pub(crate) iss: Member<'a>,
    pub(crate) aud: Member<'a>,
    pub(crate) sub: Member<'a>,
    pub(crate) client_id: Member<'a>,
    pub(crate) scope: Member<'a>,
    pub(crate) roles: Member<'a>,
    pub(crate) grant_id: Member<'a>,
    pub(crate) user_epoch: Member<'a>,
    pub(crate) client_epoch: Member<'a>,
    pub(crate) jti: Member<'a>,
    pub(crate) exp: Member<'a>,
    pub(crate) iat: Member<'a>,
    pub(crate) nbf: Member<'a>,
    #[serde(deserialize_with = "present")]
    pub(crate) cnf: Option<Confirmation<'a>>,
}

/// The members of `cnf` (RFC 7800 §3.1) that this API reads.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(crate) struct Confirmation<'a> {
    pub(crate) jkt: Member<'a>,
}

/// Reads a claim that must not be null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Decodes a segment of a JWS: base64url without padding. Fails with [`Error::Invalid`] if it is anything
/// else.
pub(crate) fn decode_segment(segment: &str) -> Result<Vec<u8>, Error> {
    secret::decode(segment).ok_or_else(Error::malformed)
}

/// Parses a JSON object without duplicate members. Fails with [`Error::Invalid`] if the bytes are anything
/// else.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    json::check(bytes).map_err(|_| Error::malformed())?;
    // serde would accept an array of the members in the order of the struct.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Error::malformed());
    }
    serde_json::from_slice(bytes).map_err(|_| Error::malformed())
}

/// Returns whether `typ` is the type of an access token: `at+jwt`, or the media type that it abbreviates (RFC
/// 9068 §4).
pub(crate) fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt"]
        .into_iter()
        .any(|accepted| typ.eq_ignore_ascii_case(accepted))
}

/// Parses the claim `scope` (RFC 9068 §2.2.3), names that are separated by spaces. Names that this API does
/// not know are left out, because the issuer may define others.
pub(crate) fn known_scopes(scope: &str) -> Scope {
    scope
        .split(' ')
        .filter_map(Scope::named)
        .fold(Scope::default(), Scope::union)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object_has_no_duplicate_members() {
        let is_object = |text: &str| parse_object::<Claims<'_>>(text.as_bytes()).is_ok();
        assert!(is_object(r#"{"a":1}"#) && is_object(r#" {"iss":"x","a":{"b":[1]}}"#));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"iss":"x","iss":"x"}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            "[]",
            r#"["x"]"#,
            r#""x""#,
            "",
            "{}{}",
        ] {
            assert!(!is_object(text), "{text}");
        }
    }

    #[test]
    fn unknown_scopes_are_ignored() {
        assert_eq!(
            known_scopes("posts:read calendar:read  profile:read").to_string(),
            "posts:read profile:read"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes: Vec<u8>) {
            let _ = parse_object::<Header<'_>>(&bytes);
        }
    }
}
