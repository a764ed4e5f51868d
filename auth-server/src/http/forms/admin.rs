//! The forms of the pages for administrators.

use super::CsrfProtected;
use serde::Deserialize;
use utoipa::ToSchema;

/// The form that retires a signing key.
#[derive(Deserialize, ToSchema)]
pub(crate) struct KeyForm {
    /// The `kid` of the key.
    pub(crate) kid: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

of_one_user!(KeyForm);
