//! Random values from the operating system's generator.

use crate::clock::Timestamp;
use crate::secret::{Secret, encode};

/// `N` random bytes.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // A system that cannot give random bytes can keep no secret: nothing sensible is left to do.
    #[allow(clippy::expect_used)]
    aws_lc_rs::rand::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A secret of 256 bits, base64url: codes, session identifiers, client secrets.
pub fn token() -> Secret {
    Secret::new(encode(&bytes::<32>()))
}

/// A public identifier of 128 bits, base64url: `jti`, `kid`, family ids.
pub fn id() -> String {
    encode(&bytes::<16>())
}

/// A random UUID (version 4).
pub fn uuid() -> String {
    uuid::Builder::from_random_bytes(bytes()).into_uuid().to_string()
}

/// A UUID (version 7, RFC 9562 §5.7) that sorts by its time, to the millisecond.
pub fn uuid_of(time: Timestamp) -> String {
    let millis = u64::try_from(time.micros().div_euclid(1_000)).unwrap_or_default();
    let builder = uuid::Builder::from_unix_timestamp_millis(millis, &bytes());
    builder.into_uuid().to_string()
}

/// A W3C trace id: 16 random bytes, lower-case hexadecimal.
pub fn trace_id() -> String {
    hex(&bytes::<16>())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
