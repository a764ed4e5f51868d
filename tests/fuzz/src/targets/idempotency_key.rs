//! `Idempotency-Key`: the quoted and the unquoted form of a value are the same key, and different values are
//! different keys.

use crate::harness::text;
use resources::idempotency::KeyValue;

pub(super) fn check(input: &[u8]) {
    let Some((text, Ok(key))) = text(input).map(|text| (text, KeyValue::parse(text))) else {
        return;
    };
    assert!((1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()));
    if text.starts_with('"') {
        return;
    }
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    assert!(KeyValue::parse(&quoted).map_or(quoted.len() > 255, |same| same == key));
    assert!(KeyValue::parse(&format!("{text}x")).map_or(text.len() == 255, |other| other != key));
}
