//! Password and one-time code in the body of a request that must be confirmed with them.

use shared::http::{Error, JsonBody};
use shared::identity::login::Proof;
use shared::identity::mfa::Otp;
use shared::identity::passwords::Password;

/// Reads the fields `password` and, if present, `otp`.
pub(super) fn read_proof(body: &JsonBody) -> Result<Proof, Error> {
    let mut fields = body.fields()?;
    let password = fields.required("password", Password::attempt);
    let otp = fields.optional("otp", Otp::parse);
    fields.finish(password.map(|password| Proof { password, otp }))
}
