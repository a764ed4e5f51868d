//! Refresh tokens: a genuine token of which any part is replaced by other text does not verify.

use crate::harness::text;
use foundation::sealing::SealingKey;
use issuer::refresh_tokens::RefreshTokens;
use std::sync::LazyLock;

static TOKENS: LazyLock<RefreshTokens> = LazyLock::new(|| {
    let key = "A".repeat(43).parse::<SealingKey>();
    RefreshTokens::new(&key.expect("a key"))
});

/// The input replaces a part of a genuine token: the first two bytes are the bounds of the part.
pub(super) fn check(input: &[u8]) {
    let genuine = TOKENS.derive("0198f0a0-0000-7000-8000-000000000000", 7);
    let Some(([from, length], part)) = input.split_first_chunk() else {
        return;
    };
    let from = usize::from(*from).min(genuine.expose().len());
    let to = (from + usize::from(*length)).min(genuine.expose().len());
    let Some(part) = text(part) else { return };
    let mut presented = genuine.expose().to_owned();
    presented.replace_range(from..to, part);
    assert_eq!(TOKENS.verify(&presented).is_some(), presented == genuine.expose());
}
