//! The pages of a sign-in.

use super::passkeys::PasskeyChallenge;
use super::text::{self, Text};
use super::{CONTENT_SECURITY_POLICY, FormState, PresentUser, render, set_policy};
use askama::Template;
use axum::response::Response;
use foundation::clock::Timestamp;
use identity::captcha::Captcha;
use identity::end_reason::EndReason;
use url::Url;

/// The sign-in form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(crate) struct SignInPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The name of the app to which the flow leads, if an administrator created the app.
    pub(crate) app: Option<&'a str>,
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<&'a str>,
    /// Why the former session of the browser ended, if that is known.
    pub(crate) end: Option<EndText>,
    /// The user who is signed in, if another one may sign in.
    pub(crate) present: Option<&'a PresentUser>,
    /// Whether the user is signed in, but not recently enough for the page that follows.
    pub(crate) sign_in_is_too_old: bool,
    /// Whether this user can return to the account without another sign-in.
    pub(crate) can_go_back: bool,
    /// Whether there is a form for the password. A user who is signed in and has none needs another way.
    pub(crate) asks_password: bool,
    pub(crate) email: &'a str,
    pub(crate) captcha: Option<CaptchaWidget<'a>>,
    /// The challenge for passkeys, if they can sign in.
    pub(crate) passkey: Option<PasskeyChallenge>,
    /// The path of the sign-up page, if users can sign up.
    pub(crate) sign_up: Option<String>,
    /// The path of the page for a forgotten password.
    pub(crate) forgot: String,
}

/// The form for the code that follows a right password.
#[derive(Template)]
#[template(path = "second_step.html")]
pub(crate) struct SecondStepPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The name of the app to which the flow leads, if an administrator created the app.
    pub(crate) app: Option<&'a str>,
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<&'a str>,
    /// The address of the account.
    pub(crate) email: &'a str,
    /// The id of its user, to whom the form belongs.
    pub(crate) user: i64,
    /// The path of the sign-in page.
    pub(crate) sign_in: String,
    /// The path of the page for a forgotten password.
    pub(crate) forgot: String,
    /// Whether the form for recovery codes is open.
    pub(crate) is_recovery_code: bool,
}

/// Why the former session of the browser ended, in words.
pub(crate) struct EndText {
    text: Text<'static>,
    /// Whether to offer a new password. It helps if a stranger may have ended the session, unless the
    /// stranger changed the address, to which the link would be mailed, or turned two-step sign-in on, which
    /// a new password leaves on. A change in this browser may have been that of a stranger who had copied its
    /// cookie.
    offers_reset: bool,
}

impl EndText {
    /// Returns the text about an end for this reason at the time `at`.
    pub(crate) fn new(reason: EndReason, at: Timestamp, now: Timestamp) -> Self {
        let (offers_reset, text) = match reason {
            EndReason::PasswordChanged => (true, text::of("ended-password-changed")),
            EndReason::PasswordReset => (true, text::of("ended-password-reset")),
            EndReason::PasswordRemoved => (true, text::of("ended-password-removed")),
            EndReason::PasswordReplaced => (false, text::of("ended-password-replaced")),
            EndReason::ChangedHere => (true, text::of("ended-changed-here")),
            EndReason::EmailChanged => (false, text::of("ended-email-changed")),
            EndReason::TwoStepOn => (false, text::of("ended-two-step-on")),
            EndReason::TwoStepOff => (true, text::of("ended-two-step-off")),
            EndReason::TwoStepReset => (false, text::of("ended-two-step-reset")),
            EndReason::PasskeyRemoved => (true, text::of("ended-passkey-removed")),
            EndReason::RoleChanged => (false, text::of("ended-role-changed")),
            EndReason::AccountDisabled => (false, text::of("ended-account-disabled")),
            EndReason::AccountDeleted => (false, text::of("ended-account-deleted")),
            EndReason::SignedOutByAdministrator => (false, text::of("ended-by-administrator")),
            EndReason::SignedOutElsewhere => (true, text::of("ended-elsewhere")),
            EndReason::NewerSignIns => (false, text::of("ended-newer-sign-ins")),
            EndReason::Unused => (false, text::of("ended-unused")),
            EndReason::Expired => (false, text::of("ended-lifetime")),
            EndReason::Restored => (false, text::of("ended-restored")),
            EndReason::SignedOut
            | EndReason::ConsentRevoked
            | EndReason::UsedTwice
            | EndReason::RevokedByApp
            | EndReason::RedirectUriRemoved
            | EndReason::AllOfApp
            | EndReason::AllOfUser => (false, text::of("ended-otherwise")),
        };
        Self {
            text: text.since("time", at, now),
            offers_reset,
        }
    }
}

/// The element that the script of a captcha service fills in.
pub(crate) struct CaptchaWidget<'a> {
    site_key: &'a str,
    script_url: &'a Url,
    sources: &'a str,
}

impl<'a> CaptchaWidget<'a> {
    /// Returns the widget of a captcha, or `None` if no script is configured.
    pub(crate) fn new(captcha: &'a Captcha) -> Option<Self> {
        Some(Self {
            site_key: captcha.site_key(),
            script_url: captcha.script_url()?,
            sources: captcha.sources(),
        })
    }
}

/// Renders the sign-in page. The widget of a captcha may load on this page alone, and from its sources alone.
pub(crate) fn sign_in(page: &SignInPage<'_>) -> Response {
    let mut response = render(&text::of("sign-in").plain(), page);
    if let Some(widget) = &page.captcha {
        let sources = widget.sources;
        let policy =
            CONTENT_SECURITY_POLICY.replace("style-src 'self'", &format!("style-src 'self' {sources}"));
        let policy = format!("{policy} {sources}; frame-src {sources}; connect-src {sources}");
        set_policy(&mut response, &policy);
    }
    response
}

/// Renders the page for the code that follows a right password.
pub(crate) fn second_step(page: &SecondStepPage<'_>) -> Response {
    render(&text::of("second-step").plain(), page)
}
