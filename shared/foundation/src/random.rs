//! Random values from the cryptographic generator of aws-lc-rs.

use crate::clock::Timestamp;
use crate::secret::{Secret, encode};
use std::time::Duration;

/// Returns `N` random bytes.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[allow(
        clippy::expect_used,
        reason = "without random bytes no secret is safe, so the program cannot continue"
    )]
    aws_lc_rs::rand::fill(&mut bytes).expect("the random number generator works");
    bytes
}

/// Returns a secret of 256 bits in base64url, for codes, session identifiers and client secrets.
pub fn token() -> Secret {
    Secret::new(encode(&bytes::<32>()))
}

/// Returns a public identifier of 128 bits in base64url, for `jti`, `kid` and family ids.
pub fn id() -> String {
    encode(&bytes::<16>())
}

/// Returns a random UUID (version 4, RFC 9562 §5.4).
pub fn uuid() -> String {
    uuid::Builder::from_random_bytes(bytes()).into_uuid().to_string()
}

/// Returns a UUID that sorts by `time`, to the millisecond (version 7, RFC 9562 §5.7).
pub fn uuid_v7(time: Timestamp) -> String {
    let millis = u64::try_from(time.micros().div_euclid(1_000)).unwrap_or_default();
    let builder = uuid::Builder::from_unix_timestamp_millis(millis, &bytes());
    builder.into_uuid().to_string()
}

/// Returns a time from zero to `limit`, to spread what would otherwise happen at the same moment.
pub fn duration_up_to(limit: Duration) -> Duration {
    limit.mul_f64(f64::from(u32::from_ne_bytes(bytes())) / f64::from(u32::MAX))
}

/// Returns a W3C trace id: 16 random bytes in lower-case hexadecimal.
pub fn trace_id() -> String {
    format!("{:032x}", u128::from_be_bytes(bytes()))
}
