//! The forms and queries of the pages: one struct each, for parsing and for the OpenAPI document.

use super::extract::CsrfProtected;
use issuer::grants::EndSessionRequest;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

macro_rules! csrf_protected {
    ($($form:ty),+ $(,)?) => { $(
        impl CsrfProtected for $form {
            fn csrf(&self) -> &str {
                &self.csrf
            }
        }
    )+ };
}

/// Implements [`CsrfProtected`] for forms that only the user to whom they were shown may submit.
macro_rules! of_one_user {
    ($($form:ty),+ $(,)?) => { $(
        impl CsrfProtected for $form {
            fn csrf(&self) -> &str {
                &self.csrf
            }

            fn user(&self) -> Option<&str> {
                Some(&self.user)
            }
        }
    )+ };
}

/// Implements the answer of an authenticator for forms with its credential.
macro_rules! passkey_answers {
    ($($form:ty),+ $(,)?) => { $(
        impl $form {
            /// Returns the answer of the authenticator.
            pub(crate) fn answer(&self) -> identity::passkeys::Answer<'_> {
                identity::passkeys::Answer {
                    browser_secret: &self.csrf,
                    state: &self.state,
                    credential: &self.credential,
                }
            }
        }
    )+ };
}

mod account;
mod admin;

pub(crate) use account::*;
pub(crate) use admin::*;

/// The sign-in form.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SignInForm {
    /// The account's e-mail address.
    pub(crate) email: String,
    /// The account's password.
    pub(crate) password: String,
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
    /// The authorization flow that continues after sign-in; or `device:` and a user code to enter; or the
    /// path of a page.
    pub(crate) flow: Option<String>,
}

impl SignInForm {
    /// Returns the response of the captcha widget: the value of the first field that is present.
    pub(crate) fn captcha(&self) -> Option<&str> {
        let responses = [&self.h_captcha, &self.turnstile, &self.recaptcha];
        responses.into_iter().flatten().map(String::as_str).next()
    }
}

/// The form of the second step of a sign-in.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SecondStepForm {
    /// A one-time code or a recovery code.
    pub(crate) otp: String,
    /// Present if the code comes from the form for recovery codes.
    pub(crate) is_recovery_code: Option<String>,
    /// The id of the user whom the page named.
    pub(crate) user: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that continues after sign-in; or `device:` and a user code to enter; or the
    /// path of a page.
    pub(crate) flow: Option<String>,
}

/// The form of a sign-in with a passkey, which a script fills in.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasskeySignInForm {
    /// The sealed state of the challenge, from the page.
    state: String,
    /// The answer of the authenticator (`AuthenticationResponseJSON`, Web Authentication §5.1.8).
    credential: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that continues after sign-in; or `device:` and a user code to enter; or the
    /// path of a page.
    pub(crate) flow: Option<String>,
}

/// The sign-up form.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SignUpForm {
    /// The e-mail address of the account.
    pub(crate) email: String,
    /// The password to set.
    pub(crate) password: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The authorization flow that continues after sign-up, or `device:` and a user code to enter.
    pub(crate) flow: Option<String>,
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
    /// The id of the user whom the page named.
    pub(crate) user: Option<String>,
    /// The version of the description of an application that describes itself, as the page showed it.
    pub(crate) client_version: Option<String>,
}

/// The form to change a password.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasswordForm {
    /// The password that replaces the present one, if there is one.
    pub(crate) new_password: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
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
    /// The authorization flow that continues after the reset.
    pub(crate) flow: Option<String>,
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
    /// The password of the account, unless the browser has a session of it.
    pub(crate) password: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form to confirm a sign-out.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SignOutForm {
    /// The value of the csrf cookie.
    csrf: String,
    /// The ID token of the request.
    id_token_hint: Option<String>,
    /// The client of the request.
    client_id: Option<String>,
    /// The URI for the redirect to the client.
    post_logout_redirect_uri: Option<String>,
    /// An opaque value, returned to the client.
    state: Option<String>,
}

impl SignOutForm {
    /// Returns the request that the user confirms.
    pub(crate) fn into_request(self) -> EndSessionRequest {
        EndSessionRequest {
            id_token_hint: self.id_token_hint,
            client_id: self.client_id,
            post_logout_redirect_uri: self.post_logout_redirect_uri,
            state: self.state,
            // Part of the form's address, where the language of every page is read.
            ui_locales: None,
        }
    }
}

/// The form for the code of a device.
#[derive(Deserialize, ToSchema)]
pub(crate) struct DeviceForm {
    /// The code, in either case, with or without the hyphen.
    #[schema(example = "BCDF-GHJK")]
    pub(crate) user_code: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form to decide about the request of a device.
#[derive(Deserialize, ToSchema)]
pub(crate) struct DeviceDecisionForm {
    /// `allow` or `deny`
    pub(crate) decision: String,
    /// The request, from the page that showed it.
    pub(crate) request: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The query of a page that may belong to an authorization flow.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FlowQuery {
    /// As the `flow` of the sign-in form.
    pub(crate) flow: Option<String>,
}

/// The query of a page to which a flow leads right after sign-in.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AfterSignInQuery {
    /// The authorization flow that the page belongs to.
    pub(crate) flow: Option<String>,
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

/// The query of the page for the code of a device.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeviceQuery {
    /// The code to fill in (`verification_uri_complete`, RFC 8628 §3.3.1).
    pub(crate) user_code: Option<String>,
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

/// The query of a link from a mail.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinkQuery {
    /// The token from the mail. Without it, the page uses the one that the browser has kept since it opened
    /// the link.
    pub(crate) token: Option<String>,
}

csrf_protected!(
    SignInForm,
    SecondStepForm,
    PasskeySignInForm,
    SignUpForm,
    ConsentForm,
    SignOutForm,
    ForgotForm,
    ResetForm,
    VerifyForm,
    DeviceForm,
    DeviceDecisionForm,
);

of_one_user!(PasswordForm);

passkey_answers!(PasskeySignInForm);
