//! The forms and queries of the pages: one struct each, for parsing and for the OpenAPI document.

use super::extract::CsrfProtected;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// An authorization request (RFC 6749 §4.1.1). Documents the parameters only: the request stays as it was
/// sent, because it travels sealed with the flow and is checked again after consent.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the request is checked in its raw form")]
pub(crate) struct AuthorizationRequest {
    /// `code`
    response_type: String,
    /// The identifier of the client.
    client_id: String,
    /// The URI that receives the response: identical to a registered one.
    redirect_uri: String,
    /// The requested scopes, separated by spaces. By default those of the client's registration.
    scope: Option<String>,
    /// An opaque value, returned with the response.
    state: Option<String>,
    /// The S256 code challenge (RFC 7636).
    code_challenge: String,
    /// `S256`
    code_challenge_method: String,
}

/// The sign-in form.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SignInForm {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// The account's password.
    pub(crate) password: String,
    /// A one-time code or a recovery code, if the account uses two-step sign-in.
    pub(crate) otp: Option<String>,
    /// The response of an hCaptcha widget, required after repeated failures.
    #[serde(rename = "h-captcha-response")]
    h_captcha: Option<String>,
    /// The response of a Turnstile widget.
    #[serde(rename = "cf-turnstile-response")]
    turnstile: Option<String>,
    /// The response of a reCAPTCHA widget.
    #[serde(rename = "g-recaptcha-response")]
    recaptcha: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that continues after sign-in.
    pub(crate) flow: Option<String>,
}

impl SignInForm {
    /// The response of the captcha's widget, whichever service it belongs to.
    pub(crate) fn captcha(&self) -> Option<&str> {
        let responses = [&self.h_captcha, &self.turnstile, &self.recaptcha];
        responses.into_iter().flatten().map(String::as_str).next()
    }
}

/// The consent form.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ConsentForm {
    /// `allow` or `deny`
    pub(crate) decision: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that the decision is about.
    pub(crate) flow: Option<String>,
}

/// The form to change a password.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasswordForm {
    /// The account's password.
    pub(crate) current_password: String,
    /// The password that replaces it.
    pub(crate) new_password: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that continues after the change.
    pub(crate) flow: Option<String>,
}

/// The form that requests a password reset.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ForgotForm {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form behind the link of a password reset.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ResetForm {
    /// The token from the link in the mail.
    pub(crate) token: String,
    /// The password to set.
    pub(crate) new_password: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form behind the link that confirms an address.
#[derive(Deserialize, ToSchema)]
pub(crate) struct VerifyForm {
    /// The token from the link in the mail.
    pub(crate) token: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The query of a page that may belong to an authorization flow.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FlowQuery {
    /// The authorization flow that the page belongs to.
    pub(crate) flow: Option<String>,
}

/// The query of the consent page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConsentQuery {
    /// The authorization flow that the page belongs to.
    pub(crate) flow: Option<String>,
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

/// The query of a link from a mail.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinkQuery {
    /// The token from the mail.
    pub(crate) token: String,
}

macro_rules! csrf_protected {
    ($($form:ty),+ $(,)?) => { $(
        impl CsrfProtected for $form {
            fn csrf(&self) -> &str {
                &self.csrf
            }
        }
    )+ };
}

csrf_protected!(
    SignInForm,
    ConsentForm,
    PasswordForm,
    ForgotForm,
    ResetForm,
    VerifyForm
);
