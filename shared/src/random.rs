//! Random values from the operating system's generator.

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
