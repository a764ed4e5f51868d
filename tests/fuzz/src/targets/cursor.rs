//! Cursors: an accepted cursor has at most 512 characters and survives a round trip.

use crate::harness::text;
use foundation::cursor::Cursor;

pub(super) fn check(input: &[u8]) {
    let Some(cursor) = text(input).and_then(|text| text.parse::<Cursor>().ok()) else {
        return;
    };
    let printed = cursor.to_string();
    assert!(printed.len() <= 512);
    assert_eq!(printed.parse(), Ok(cursor));
}
