//! A canonical text form of JSON values.

use serde_json::Value;

/// Serializes a value without white space and with sorted member names, so that equal values have equal
/// texts. Numbers keep their form: `1` and `1.0` differ.
pub fn canonical(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            let member = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(value))
            };
            format!("{{{}}}", join(members.into_iter().map(member).collect()))
        }
        Value::Array(items) => format!("[{}]", join(items.iter().map(canonical).collect())),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use proptest::prelude::*;

    fn canonicalize(text: &str) -> String {
        canonical(&parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn only_member_order_white_space_and_escapes_are_normalized() {
        let original = r#"{"b":[1,2,{"y":null,"x":"a"}],"a":1}"#;
        assert_eq!(canonicalize(original), r#"{"a":1,"b":[1,2,{"x":"a","y":null}]}"#);
        assert_eq!(
            canonicalize(" {\n \"a\" : 1 , \"b\" : [ 1 , 2 , { \"x\" : \"\\u0061\" , \"y\" : null } ] } "),
            canonicalize(original)
        );
        for other in [
            r#"{"b":[2,1,{"y":null,"x":"a"}],"a":1}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}],"a":1.0}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}],"a":"1"}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}]}"#,
            r#"{"b":[1,2,{"y":null,"x":"a,\"z\":1"}],"a":1}"#,
        ] {
            assert_ne!(canonicalize(other), canonicalize(original), "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_canonical_form_parses_to_the_same_value(text in r#"(\{("[a-c]{1,2}":(1|-2.5|"x\\"|null|\[\]|\{\}),){0,3}"z":[0-9]\})"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                let reparsed = parse(canonical(&value).as_bytes()).unwrap();
                prop_assert_eq!(canonical(&reparsed), canonical(&value));
                prop_assert_eq!(reparsed, value);
            }
        }
    }
}
