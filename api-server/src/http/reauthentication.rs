//! Password and one-time code in the body of a request that must be confirmed with them.

use identity::credential_check::PresentedCredentials;
use identity::passwords::Password;
use identity::second_factor::Otp;
use web::{Error, JsonBody};

/// Reads the fields `password` and, if present, `otp`.
pub(super) fn read_proof(body: &JsonBody) -> Result<PresentedCredentials, Error> {
    let mut fields = body.fields()?;
    let password = fields.required("password", Password::parse);
    let otp = fields.optional("otp", Otp::parse);
    fields.finish(password.map(|password| PresentedCredentials { password, otp }))
}
