//! The credentials that a signed-in user must present again for a sensitive operation.

use identity::credential_check::PresentedCredentials;
use identity::passwords::Password;
use identity::second_factor::Otp;
use web::{Error, JsonBody};

/// Reads the required member `password` and the optional member `otp`.
pub(super) fn read_credentials(body: &JsonBody) -> Result<PresentedCredentials, Error> {
    let mut fields = body.fields()?;
    let password = fields.required("password", Password::parse);
    let otp = fields.optional("otp", Otp::parse);
    fields.finish(password.map(|password| PresentedCredentials { password, otp }))
}
