//! The credentials that a signed-in user presents again on a page, for a sensitive change of the account.

use super::form_page::FormError;
use super::paths;
use super::redirects::see_other;
use crate::pages::text;
use identity::credential_check::PresentedCredentials;
use identity::login;
use identity::passwords::Password;
use identity::second_factor::Otp;

/// Returns the password and the one-time code of a form, as [`presented`] does; `None` if the form has no password.
pub(super) fn presented_if_asked(
    password: Option<&str>,
    otp: Option<&str>,
) -> Result<Option<PresentedCredentials>, FormError> {
    let password = password.filter(|password| !password.is_empty());
    password.map(|password| presented(password, otp)).transpose()
}

/// Returns the password and the one-time code of a form. Malformed ones are reported as wrong; an empty code counts as absent.
pub(super) fn presented(password: &str, otp: Option<&str>) -> Result<PresentedCredentials, FormError> {
    let password = Password::parse(password).map_err(|_| wrong_password())?;
    let otp = otp.filter(|otp| !otp.is_empty()).map(code).transpose()?;
    Ok(PresentedCredentials { password, otp })
}

/// Returns the one-time code of a form. A malformed one is reported as wrong.
pub(super) fn code(otp: &str) -> Result<Otp, FormError> {
    Otp::parse(otp.trim()).map_err(|_| wrong_code())
}

/// Returns the error of a form whose credentials were not verified. If the session ended meanwhile, the browser is sent to the sign-in
/// page.
pub(super) fn error(error: login::Error) -> FormError {
    match error {
        login::Error::WrongCredentials => wrong_password(),
        login::Error::WrongCode => wrong_code(),
        login::Error::CodeMissing(_) => FormError::invalid(&text::of("code-missing")),
        login::Error::SignedOut => FormError::Final(see_other(paths::SIGN_IN)),
        error => error.into(),
    }
}

/// Returns the error of a form whose password is wrong.
pub(super) fn wrong_password() -> FormError {
    FormError::invalid(&text::of("wrong-current-password"))
}

fn wrong_code() -> FormError {
    FormError::invalid(&text::of("wrong-code"))
}
