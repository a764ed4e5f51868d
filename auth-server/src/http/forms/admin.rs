//! The forms of the pages for administrators.

use super::CsrfProtected;
use crate::paths;
use identity::consents::list as consents;
use identity::sessions;
use issuer::grants::PreviewRequest;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

/// The form that rotates the signing keys.
#[derive(Deserialize, ToSchema)]
pub(crate) struct KeyRotationForm {
    /// The `kid` of the staged key that the page showed.
    pub(crate) staged: String,
    /// The hash of the verifiers without the staged key that the page showed, if the keys shall be rotated
    /// although these lack it. It has no effect once others or fewer lack the key.
    #[serde(default)]
    pub(crate) despite_unready: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

/// The form that retires a signing key.
#[derive(Deserialize, ToSchema)]
pub(crate) struct KeyRetirementForm {
    /// The `kid` of the key.
    pub(crate) kid: String,
    /// The state of the key that the page showed.
    pub(crate) state: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the user to whom the form was shown.
    user: String,
}

/// The form that changes a user.
#[derive(Deserialize, ToSchema)]
pub(crate) struct UserChangeForm {
    /// The change: `disable`, `enable`, `sign-out`, `unlock`, `reset-second-factor`, `set-password`,
    /// `end-session`, `revoke-consent`, or `role-` with the name of a role.
    pub(crate) change: String,
    /// The id of the session that ends, or of the app that loses access, for `end-session` and
    /// `revoke-consent`.
    #[serde(default)]
    pub(crate) ended: String,
    /// The path and the query of the page of all sessions or of all consents, if it had the form.
    #[serde(default)]
    list: String,
    /// The time of the last change of the account that the page showed, for `set-password`.
    #[serde(default)]
    pub(crate) version: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the administrator to whom the form was shown.
    user: String,
}

impl UserChangeForm {
    /// Returns the path to which the administrator comes back after the change: that of the list which had
    /// the form, with the valid parameters of its query, or else `page`, that of the user.
    pub(crate) fn next(&self, page: &str) -> String {
        let list = self.list.as_str();
        let (path, query) = list.split_once('?').unwrap_or((list, ""));
        match path {
            paths::ADMIN_SESSIONS => sessions::ListQuery::parse(query).page.requested_url(path),
            paths::ADMIN_CONSENTS => consents::ListQuery::parse(query).page.requested_url(path),
            _ => page.to_owned(),
        }
    }
}

/// The form that changes an app.
#[derive(Deserialize, ToSchema)]
pub(crate) struct ClientChangeForm {
    /// The change: `disable`, `enable` or `rotate-secret`.
    pub(crate) change: String,
    /// The time at which the newest secret that the page showed was made, for `rotate-secret`.
    #[serde(default)]
    pub(crate) version: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the administrator to whom the form was shown.
    user: String,
}

/// The form that creates an app.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct NewClientForm {
    /// The type of client.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The name on the consent page.
    pub(crate) name: String,
    /// The redirect URIs, one per line.
    pub(crate) redirect_uris: String,
    /// The URL of the public keys with which the app authenticates in place of a secret, or these keys: a JWK
    /// set.
    pub(crate) keys: String,
    /// The scope that the app may request.
    pub(crate) scope: String,
    /// `yes` if the operator of this issuer runs the app.
    pub(crate) first_party: String,
    /// `create` after the review, and `edit` to go back to the form.
    pub(crate) step: String,
    /// The `client_id` that the review showed, so that a form that is sent again creates no other app.
    pub(crate) id: String,
    /// The value of the csrf cookie.
    csrf: String,
    /// The id of the administrator to whom the form was shown.
    user: String,
}

/// The query of the page that shows the claims of tokens.
#[derive(Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct TokenPreviewQuery {
    /// The `client_id` of the app.
    pub(crate) client_id: String,
    /// The e-mail address of the user. A service needs none.
    pub(crate) email: String,
    /// The scope that the app asks for. Without it, the default scope of the app.
    pub(crate) scope: String,
    /// Present right after sign-in.
    #[param(ignore)]
    pub(crate) signed_in: Option<String>,
}

impl TokenPreviewQuery {
    /// Returns the request for a preview.
    pub(crate) fn request(&self) -> PreviewRequest<'_> {
        PreviewRequest {
            client_id: &self.client_id,
            email: &self.email,
            scope: &self.scope,
        }
    }
}

of_one_user!(
    KeyRotationForm,
    KeyRetirementForm,
    UserChangeForm,
    ClientChangeForm,
    NewClientForm
);
