//! One way of writing each JSON value.

use serde_json::Value;

/// The value without white space, the members of its objects sorted by name: two texts that say the same have
/// the same canonical form. A number is as it was written: `1` and `1.0` are two.
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
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use proptest::prelude::*;

    fn of(text: &str) -> String {
        canonical(&parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn order_and_white_space_do_not_matter_and_all_else_does() {
        let one = r#"{"b":[1,2,{"y":null,"x":"a"}],"a":1}"#;
        assert_eq!(of(one), r#"{"a":1,"b":[1,2,{"x":"a","y":null}]}"#);
        assert_eq!(
            of(" {\n \"a\" : 1 , \"b\" : [ 1 , 2 , { \"x\" : \"\\u0061\" , \"y\" : null } ] } "),
            of(one)
        );
        for other in [
            r#"{"b":[2,1,{"y":null,"x":"a"}],"a":1}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}],"a":1.0}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}],"a":"1"}"#,
            r#"{"b":[1,2,{"y":null,"x":"a"}]}"#,
            r#"{"b":[1,2,{"y":null,"x":"a,\"z\":1"}],"a":1}"#,
        ] {
            assert_ne!(of(other), of(one), "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_canonical_form_says_the_same(text in r#"(\{("[a-c]{1,2}":(1|-2.5|"x\\"|null|\[\]|\{\}),){0,3}"z":[0-9]\})"#) {
            if let Ok(value) = parse(text.as_bytes()) {
                let again = parse(canonical(&value).as_bytes()).unwrap();
                prop_assert_eq!(canonical(&again), canonical(&value));
                prop_assert_eq!(again, value);
            }
        }
    }
}
