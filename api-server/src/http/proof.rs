//! Showing once more who one is.

use shared::http::{Error, JsonBody};
use shared::identity::login::Proof;
use shared::identity::mfa::Otp;
use shared::identity::passwords::Password;

/// Reads a password, and a code where there is one.
pub(super) fn read(body: &JsonBody) -> Result<Proof, Error> {
    let mut fields = body.fields()?;
    let password = fields.required("password", Password::attempt);
    let otp = fields.optional("otp", Otp::parse);
    fields.finish(password.map(|password| Proof { password, otp }))
}
