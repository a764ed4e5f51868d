//! The token of a mailed link in a request body.

use foundation::schema;
use foundation::schema::WITHOUT_NUL;
use foundation::secret::Secret;

/// The maximum length of a token, in bytes. Issued tokens have 43 bytes.
const MAX_LENGTH: usize = 128;

/// A token as the caller sends it, which may be unknown, expired or used.
#[derive(Debug)]
pub(super) struct MailedToken(pub(super) Secret);

foundation::schema! {
    MailedToken = schema::text(1, MAX_LENGTH, WITHOUT_NUL, "The token from the link in the mail.");
}

impl MailedToken {
    /// Checks the length of a token. The error completes a sentence that begins with the field name, such as
    /// "is empty".
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text.len() {
            0 => Err("is empty"),
            1..=MAX_LENGTH => Ok(Self(Secret::new(text))),
            _ => Err("is longer than 128 bytes"),
        }
    }
}
