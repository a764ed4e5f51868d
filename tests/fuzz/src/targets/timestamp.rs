//! Times (RFC 3339): an accepted time survives a round trip.

use crate::harness::text;
use foundation::clock::Timestamp;

pub(super) fn check(input: &[u8]) {
    if let Some(time) = text(input).and_then(Timestamp::parse) {
        assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
    }
}
