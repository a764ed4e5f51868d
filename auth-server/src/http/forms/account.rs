//! The forms and the query of the account pages.

use super::CsrfProtected;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// The form of the account page that has no other field.
#[derive(Deserialize, ToSchema)]
pub(crate) struct AccountForm {
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that changes the address of an account.
#[derive(Deserialize, ToSchema)]
pub(crate) struct EmailForm {
    /// The new address.
    pub(crate) email: String,
    /// The password of the account, if the last sign-in was over ten minutes ago.
    pub(crate) password: Option<String>,
    /// A one-time code or a recovery code, if the form asks for the password and the account uses two-step sign-in.
    pub(crate) otp: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that deletes an account.
#[derive(Deserialize, ToSchema)]
pub(crate) struct DeletionForm {
    /// The password of the account.
    pub(crate) password: String,
    /// A one-time code or a recovery code, if the account uses two-step sign-in.
    pub(crate) otp: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that begins to turn two-step sign-in on.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TwoStepEnrollmentForm {
    /// The password of the account, if the last sign-in was over ten minutes ago.
    pub(crate) password: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form with the first one-time code.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TwoStepConfirmationForm {
    /// The code that the authenticator app shows.
    pub(crate) otp: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that turns two-step sign-in off.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TwoStepOffForm {
    /// The password of the account, if the last sign-in was over ten minutes ago.
    pub(crate) password: Option<String>,
    /// A one-time code or a recovery code, if the form asks for the password.
    pub(crate) otp: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that adds a passkey, which a script fills in.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasskeyForm {
    /// The name of the passkey.
    pub(crate) name: String,
    /// The sealed state of the challenge, from the page.
    state: String,
    /// The answer of the authenticator (`RegistrationResponseJSON`, Web Authentication §5.1.8).
    credential: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that renames a passkey.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasskeyNameForm {
    /// The id of the passkey.
    pub(crate) passkey: String,
    /// The new name.
    pub(crate) name: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that removes a passkey.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasskeyRemovalForm {
    /// The id of the passkey.
    pub(crate) passkey: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that ends a session.
#[derive(Deserialize, ToSchema)]
pub(crate) struct SessionEndForm {
    /// The id of the session.
    pub(crate) session: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that disconnects an app.
#[derive(Deserialize, ToSchema)]
pub(crate) struct AppForm {
    /// The `client_id` of the app.
    pub(crate) app: String,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The query of the account page.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AccountQuery {
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

csrf_protected!(
    AccountForm,
    EmailForm,
    DeletionForm,
    TwoStepEnrollmentForm,
    TwoStepConfirmationForm,
    TwoStepOffForm,
    PasskeyForm,
    PasskeyNameForm,
    PasskeyRemovalForm,
    SessionEndForm,
    AppForm,
);

passkey_answers!(PasskeyForm);
