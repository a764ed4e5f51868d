//! Parsing of a token's header and claims, and checks of their members.

use crate::error::Error;
use foundation::clock::Timestamp;
use foundation::json;
use foundation::scope::Scope;
use foundation::secret;
use serde_json::{Map, Value};
use std::time::Duration;

/// A JSON object in which no member occurs twice.
pub(crate) type Object = Map<String, Value>;

/// Decodes a segment of a JWS: base64url without padding that contains a JSON object without duplicate members. Fails
/// with [`Error::Invalid`] if it is anything else.
pub(crate) fn decode_object(segment: &str) -> Result<Object, Error> {
    let bytes = secret::decode(segment).ok_or_else(Error::malformed)?;
    match json::parse(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(Error::malformed()),
    }
}

/// Returns a required member that is a string. Fails with [`Error::Invalid`] if it is missing or of another type.
pub(crate) fn required_string<'a>(object: &'a Object, name: &str) -> Result<&'a str, Error> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Error::Invalid(format!("its {name} is missing or not a string")))
}

/// Returns a required member that is a `NumericDate` (RFC 7519 §2). Fails with [`Error::Invalid`] if it is missing or
/// not such a number.
pub(crate) fn required_date(claims: &Object, name: &str) -> Result<Timestamp, Error> {
    let seconds = claims.get(name).and_then(Value::as_f64);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map(|since_epoch| Timestamp::from_micros(0).after(since_epoch))
        .ok_or_else(|| Error::Invalid(format!("its {name} is missing or not a NumericDate")))
}

/// Returns whether `aud` is this audience and no other, as a string or a list of one string.
pub(crate) fn has_only_audience(claims: &Object, audience: &str) -> bool {
    match claims.get("aud") {
        Some(Value::Array(list)) => matches!(list.as_slice(), [Value::String(only)] if only == audience),
        Some(Value::String(only)) => only == audience,
        _ => false,
    }
}

/// Returns whether `typ` is the type of an access token: `at+jwt`, or the media type that it abbreviates (RFC 9068 §4).
pub(crate) fn is_access_token(typ: &str) -> bool {
    ["at+jwt", "application/at+jwt"]
        .into_iter()
        .any(|accepted| typ.eq_ignore_ascii_case(accepted))
}

/// Parses the claim `scope` (RFC 9068 §2.2.3), names that are separated by spaces. Names that this API does not know
/// are left out, because the issuer may define others.
pub(crate) fn known_scopes(scope: &str) -> Scope {
    scope
        .split(' ')
        .filter_map(|name| name.parse::<Scope>().ok())
        .fold(Scope::default(), |all, one| all.union(&one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_date_is_a_finite_number_that_is_not_negative() {
        let date = |value: Value| {
            let claims = Map::from_iter([("exp".to_owned(), value)]);
            required_date(&claims, "exp").ok().map(Timestamp::micros)
        };
        assert_eq!(date(json!(1_700_000_000)), Some(1_700_000_000_000_000));
        assert_eq!(date(json!(1.5)), Some(1_500_000));
        for value in [
            json!("9999999999"),
            json!(-1),
            json!(1e308),
            json!(null),
            json!([1]),
        ] {
            assert_eq!(date(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn the_audience_is_a_string_or_a_list_of_one() {
        let accepted = |value: Value| {
            let claims = Map::from_iter([("aud".to_owned(), value)]);
            has_only_audience(&claims, "us")
        };
        assert!(accepted(json!("us")) && accepted(json!(["us"])));
        for value in [
            json!("them"),
            json!([]),
            json!(["us", "us"]),
            json!(["us", "them"]),
            json!(null),
        ] {
            assert!(!accepted(value.clone()), "{value}");
        }
    }

    #[test]
    fn an_object_has_no_duplicate_members() {
        let is_object = |text: &str| decode_object(&secret::encode(text.as_bytes())).is_ok();
        assert!(is_object(r#"{"a":1}"#));
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":{"b":1,"b":1}}"#, "[]", "", "{}{}"] {
            assert!(!is_object(text), "{text}");
        }
    }

    #[test]
    fn unknown_scopes_are_ignored() {
        assert_eq!(
            known_scopes("posts:read openid  profile:read").to_string(),
            "posts:read profile:read"
        );
    }
}
