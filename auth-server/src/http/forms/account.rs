//! The forms and the query of the account pages.

use super::CsrfProtected;
use crate::pages::Parts;
use foundation::cursor::Cursor;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// A form of the account pages that has no other field.
#[derive(Deserialize, ToSchema)]
pub(crate) struct AccountForm {
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

/// The form that changes the address of an account.
#[derive(Deserialize, ToSchema)]
pub(crate) struct EmailForm {
    /// The new address.
    pub(crate) email: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

/// The form with a new password to judge, which a script sends.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasswordVerdictForm {
    /// The password.
    pub(crate) new_password: String,
    /// The address of the account, as far as it is known.
    #[serde(default)]
    pub(crate) email: String,
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

/// The form that adds a passkey, which a script fills in.
#[derive(Deserialize, ToSchema)]
pub(crate) struct PasskeyForm {
    /// The name of the passkey.
    pub(crate) name: String,
    /// The sealed state of the challenge, from the page.
    state: String,
    /// The answer of the authenticator (`RegistrationResponseJSON`, Web Authentication §5.1.8).
    credential: String,
    /// The authorization flow that continues afterwards.
    pub(crate) flow: Option<String>,
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
    /// The number of the part of the sessions that the page showed.
    sessions: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
}

/// The form that disconnects an app.
#[derive(Deserialize, ToSchema)]
pub(crate) struct AppForm {
    /// The `client_id` of the app.
    pub(crate) app: String,
    /// The number of the part of the connected apps that the page showed.
    apps: Option<String>,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

impl SessionEndForm {
    /// Returns the parts to which the user comes back.
    pub(crate) fn parts(&self) -> Parts {
        Parts::parse(self.sessions.as_deref(), None)
    }
}

impl AppForm {
    /// Returns the parts to which the user comes back.
    pub(crate) fn parts(&self) -> Parts {
        Parts::parse(None, self.apps.as_deref())
    }
}

/// The query of a page of the account.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AccountQuery {
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

/// The query of the account page, and of the pages of one user and one app for administrators.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OverviewQuery {
    /// The number of the part of the sessions to show, counted from 1. A part has 20 sessions.
    sessions: Option<String>,
    /// The number of the part of the connected apps to show, counted from 1. A part has 20 apps.
    apps: Option<String>,
    /// The position before which a page for administrators shows the changes.
    #[param(ignore)]
    changes: Option<String>,
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

impl OverviewQuery {
    /// Returns the position before which the page shows the changes; `None` for the newest.
    pub(crate) fn changes_before(&self) -> Option<Cursor> {
        self.changes.as_deref()?.parse().ok()
    }

    /// Returns the parts to show.
    pub(crate) fn parts(&self) -> Parts {
        Parts::parse(self.sessions.as_deref(), self.apps.as_deref())
    }
}

of_one_user!(AccountForm, AppForm, EmailForm);

csrf_protected!(
    TwoStepConfirmationForm,
    PasskeyForm,
    PasskeyNameForm,
    PasskeyRemovalForm,
    PasswordVerdictForm,
    SessionEndForm,
);

passkey_answers!(PasskeyForm);
