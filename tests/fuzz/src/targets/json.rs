//! JSON bodies: the two parsers accept the same inputs, an accepted value is the one that serde_json reads,
//! and its canonical form is unambiguous.

use foundation::json::{canonical, check as check_json, parse};
use serde_json::Value;

pub(super) fn check(input: &[u8]) {
    let parsed = parse(input).ok();
    assert_eq!(check_json(input).is_ok(), parsed.is_some());
    let Some(value) = parsed else { return };
    assert_eq!(serde_json::from_slice::<Value>(input).ok().as_ref(), Some(&value));
    let text = canonical(&value);
    let again = parse(text.as_bytes()).expect("the canonical form is JSON");
    // serde_json may read the shortest form of a number with a fraction as the neighboring double.
    if !text.contains(['.', 'e']) {
        assert_eq!((&again, canonical(&again)), (&value, text));
    }
}
