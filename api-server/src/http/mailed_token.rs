//! The token of a mailed link, as it comes back in a body.

use shared::schema::{self, WITHOUT_NUL};
use shared::secret::Secret;

/// The longest text that is looked at, in bytes. Ours have 43.
const MAX_LENGTH: usize = 128;

/// A token, ours or not.
#[derive(Debug)]
pub(super) struct MailedToken(pub(super) Secret);

shared::schema! {
    MailedToken = schema::text(1, MAX_LENGTH, WITHOUT_NUL, "The token from the link in the mail.");
}

impl MailedToken {
    /// Reads a text; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text.len() {
            0 => Err("is empty"),
            1..=MAX_LENGTH => Ok(Self(Secret::new(text))),
            _ => Err("is longer than 128 bytes"),
        }
    }
}
