//! The rules for new passwords.

use super::{MAX_LENGTH, MIN_LENGTH, Password, PasswordFlaw, Passwords};
use foundation::schema::{self, WITHOUT_NUL};
use utoipa::openapi::Object;

/// Returns the OpenAPI schema of a new password. Its minimum length is [`MIN_LENGTH`], which a setting can
/// raise.
pub fn new_password_schema() -> Object {
    let description = "At least 8 characters, counted in NFC.";
    schema::text(MIN_LENGTH, MAX_LENGTH, WITHOUT_NUL, description)
}

impl Passwords {
    /// Returns the minimum length of a new password, in characters.
    pub fn min_length(&self) -> usize {
        self.min_length
    }

    /// Parses a new password, which must have between the policy's minimum length and [`MAX_LENGTH`]
    /// characters and must not be a common password. There are no composition rules (NIST SP 800-63B
    /// §3.1.1.2). If the account's e-mail is known, use [`parse_new_for`](Self::parse_new_for).
    pub fn parse_new(&self, text: &str) -> Result<Password, PasswordFlaw> {
        self.parse_new_for(text, "")
    }

    /// Parses a new password of the account with this e-mail, like [`parse_new`](Self::parse_new), and also
    /// refuses passwords that resemble the e-mail.
    pub fn parse_new_for(&self, text: &str, email: &str) -> Result<Password, PasswordFlaw> {
        let password = Password::parse(text)?;
        if password.0.chars().count() < self.min_length {
            return Err(PasswordFlaw::TooShort { min: self.min_length });
        }
        self.check_against_email(&password, email)?;
        Ok(password)
    }

    /// Fails if a password is easy to guess, also because it resembles this e-mail, which became known after
    /// the password was parsed.
    pub(crate) fn check_against_email(&self, password: &Password, email: &str) -> Result<(), PasswordFlaw> {
        self.block_list.flaw(&password.0, email).map_or(Ok(()), Err)
    }
}
