//! The recent sign-in that pages require for a sensitive change of the account.

use super::consent::{cookie_dropped, require_session};
use super::flow::FlowError;
use super::form_page::FormError;
use super::redirects::see_other;
use crate::pages::{Field, text};
use crate::paths;
use foundation::context::RequestContext;
use identity::login;
use identity::second_factor::Otp;
use identity::sessions::Session;

/// Returns the session if its sign-in is recent. Otherwise fails with a redirect to the sign-in page, which
/// leads the user back to the path `page`. Fails like [`require_session`]. Right after a sign-in, fails with
/// a redirect to `page`, whose address then has no query.
pub(super) fn require_recent_sign_in(
    session: Option<Session>,
    page: &str,
    just_signed_in: bool,
    context: &RequestContext,
) -> Result<Session, FlowError> {
    let session = require_session(session, Some(page), just_signed_in)?;
    require_recent(Some(session), page, None, just_signed_in, context)
}

/// Returns the session as [`require_recent_sign_in`] does, also one in which an initial password must be
/// replaced. `flow` is the authorization flow in which the user signs in, if there is one.
pub(super) fn require_recent(
    session: Option<Session>,
    page: &str,
    flow: Option<&str>,
    just_signed_in: bool,
    context: &RequestContext,
) -> Result<Session, FlowError> {
    let response = match session {
        // With `signed_in` in the address, a reload after the end of the session would report that the
        // browser dropped the cookie.
        Some(session) if session.has_recent_sign_in(context.now) => match just_signed_in {
            true => see_other(page),
            false => return Ok(session),
        },
        None if just_signed_in => cookie_dropped(flow.or(Some(page))),
        _ => see_other(&paths::sign_in(flow.or(Some(page)))),
    };
    Err(FlowError::Response(response))
}

/// Returns the one-time code of a form. A malformed one is reported as wrong.
pub(super) fn code(otp: &str) -> Result<Otp, FormError> {
    Otp::parse(otp.trim()).map_err(|_| wrong_code())
}

/// Returns the error of a form whose recent sign-in or code was not verified. If the session ended or the
/// credentials changed meanwhile, the browser is sent to the sign-in page, from which the user comes to the
/// page with the path `flow`, or back into this authorization flow.
pub(super) fn error(error: login::Error, flow: &str) -> FormError {
    match error {
        login::Error::WrongCode => wrong_code(),
        login::Error::SignedOut | login::Error::WrongCredentials | login::Error::SignInTooOld => {
            FormError::Final(see_other(&paths::sign_in(Some(flow))))
        }
        error => error.into(),
    }
}

fn wrong_code() -> FormError {
    FormError::invalid(&text::of("wrong-code")).about(Field::Code)
}
