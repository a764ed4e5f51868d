//! The parts that all form pages have in common.

use std::borrow::Borrow;

/// The state of the forms of a page.
#[derive(Clone, Copy)]
pub(crate) struct FormState<'a> {
    /// The anti-forgery token, sent back in a hidden field.
    pub(crate) csrf: &'a str,
    /// The id of the user to whom the page is shown, if its forms belong to this user.
    pub(crate) user: Option<i64>,
    /// The message about the previous attempt, if it failed.
    pub(crate) error: Option<&'a str>,
    /// The reason of the failure in English, which follows the message, if it is not in words of the page.
    pub(crate) reason: Option<&'a str>,
    /// The field that the message is about, if it is about one.
    pub(crate) wrong_field: Option<Field>,
}

/// A field of a form that can be wrong on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The e-mail address.
    Email,
    /// The present password.
    Password,
    /// A new password.
    NewPassword,
    /// The one-time code, or the code of a device.
    Code,
    /// A recovery code, which has a form of its own beside that of the one-time code.
    RecoveryCode,
    /// The `client_id` of an app.
    ClientId,
    /// The name of a passkey or of an app.
    Name,
    /// The redirect URIs of an app.
    RedirectUris,
    /// The public keys of an app.
    Keys,
    /// The scope of an app.
    Scope,
}

impl Field {
    /// Returns the field for this member of the registration of a client, if a form has one.
    pub(crate) fn of_client(member: &str) -> Option<Self> {
        match member {
            "name" => Some(Self::Name),
            "redirect_uris" => Some(Self::RedirectUris),
            "jwks" | "jwks_uri" => Some(Self::Keys),
            "scope" => Some(Self::Scope),
            _ => None,
        }
    }

    /// Returns the name by which templates know the field.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Password => "password",
            Self::NewPassword => "new-password",
            Self::Code => "code",
            Self::RecoveryCode => "recovery-code",
            Self::ClientId => "client_id",
            Self::Name => "name",
            Self::RedirectUris => "redirect_uris",
            Self::Keys => "keys",
            Self::Scope => "scope",
        }
    }
}

impl FormState<'_> {
    /// Returns whether the message is about the field with this name.
    pub(super) fn is_wrong(&self, field: &str) -> bool {
        self.wrong_field.is_some_and(|wrong| wrong.as_str() == field)
    }

    /// Returns whether the field with this name gets the focus: the one that the message is about, or else
    /// the one that has it by default.
    pub(super) fn focuses(&self, field: &str, by_default: impl Borrow<bool>) -> bool {
        match self.wrong_field {
            Some(wrong) => wrong.as_str() == field,
            None => *by_default.borrow(),
        }
    }
}
