//! The pages of a sign-in.

use super::{CONTENT_SECURITY_POLICY, FormState, render, set_policy, text};
use askama::Template;
use axum::response::Response;
use foundation::urls::origin_of;
use identity::captcha::Captcha;
use url::Url;

/// The sign-in form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(crate) struct SignInPage<'a> {
    pub(crate) form: FormState<'a>,
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<&'a str>,
    pub(crate) email: &'a str,
    pub(crate) captcha: Option<CaptchaWidget<'a>>,
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
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<&'a str>,
    /// The address of the account.
    pub(crate) email: &'a str,
    /// The id of its user, to whom the form belongs.
    pub(crate) user: i64,
    /// The path of the sign-in page.
    pub(crate) sign_in: String,
}

/// The element that the script of a captcha service fills in.
pub(crate) struct CaptchaWidget<'a> {
    site_key: &'a str,
    script_url: &'a Url,
}

impl<'a> CaptchaWidget<'a> {
    /// Returns the widget of a captcha, or `None` if no script is configured.
    pub(crate) fn new(captcha: &'a Captcha) -> Option<Self> {
        Some(Self {
            site_key: captcha.site_key(),
            script_url: captcha.script_url()?,
        })
    }
}

/// Renders the sign-in page. The script of a captcha, and its frames, may be loaded on this page alone, and
/// from the script's origin alone.
pub(crate) fn sign_in(page: &SignInPage<'_>) -> Response {
    let mut response = render(&text::of("sign-in").plain(), page);
    if let Some(widget) = &page.captcha {
        let origin = origin_of(widget.script_url);
        let policy = format!("{CONTENT_SECURITY_POLICY} {origin}; frame-src {origin}; connect-src {origin}");
        set_policy(&mut response, &policy);
    }
    response
}

/// Renders the page for the code that follows a right password.
pub(crate) fn second_step(page: &SecondStepPage<'_>) -> Response {
    render(&text::of("second-step").plain(), page)
}
