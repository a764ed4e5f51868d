//! Ids in paths and queries: only the canonical text of an id is accepted.

use crate::harness::text;
use foundation::ids::{Id, TextId};

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    if let Ok(id) = text.parse::<Id>() {
        assert_eq!(id.get().to_string(), text);
        assert!((1..1 << 53).contains(&id.get()));
    }
    if let Ok(id) = text.parse::<TextId>() {
        assert!(id.as_ref() == text && text.len() <= 2_000 && text.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}
