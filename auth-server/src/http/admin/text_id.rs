//! Ids that are no numbers.

use std::str::FromStr;

/// The longest id, in characters.
const MAX_LENGTH: usize = 64;

/// The id of a client, of a key or of a consent: up to 64 visible ASCII characters.
#[derive(Clone, Debug)]
pub(crate) struct TextId(pub(super) String);

impl FromStr for TextId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // PostgreSQL cannot take every text as a parameter.
        let is_id = text.len() <= MAX_LENGTH && text.bytes().all(|byte| byte.is_ascii_graphic());
        match is_id {
            true => Ok(Self(text.to_owned())),
            false => Err("not an id"),
        }
    }
}
