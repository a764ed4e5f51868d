//! What people are told about their accounts, in words.

use crate::mail::Mail;
use foundation::context::RequestContext;

/// Something that was done to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The password was changed by someone who knew the old one.
    PasswordChanged,
    /// The password was replaced by a link from a mail.
    PasswordReset,
    /// An administrator set another password.
    PasswordSet,
    /// Sign-in asks for a one-time code now.
    MfaEnabled,
    /// Sign-in asks for no one-time code any more.
    MfaDisabled,
    /// A recovery code was used in place of a one-time code; so many are left.
    RecoveryCodeUsed(usize),
    /// The address is another now; told to the old one.
    EmailChanged {
        /// The new address.
        to: &'a str,
    },
    /// Another address was asked for; told to the present one.
    EmailChangeAsked {
        /// The address to be.
        to: &'a str,
    },
    /// The account and what belonged to it alone are gone.
    AccountDeleted,
}

impl Notice<'_> {
    pub(super) fn to_mail(self, email: &str, issuer: &str, context: &RequestContext) -> Mail {
        let (subject, what) = self.words();
        let from = context
            .address
            .map(|address| format!(" from the address {address}"))
            .unwrap_or_default();
        let text = format!(
            "{what}\n\nThis was done at {when}{from}, for the account {email} at {issuer}.\n\nIf it was not you, \
             reset your password at once and tell the administrator.\n",
            when = context.now,
        );
        Mail {
            to: Some(email.to_owned()),
            subject: subject.to_owned(),
            text,
        }
    }

    fn words(self) -> (&'static str, String) {
        let signed_out = "Every session was signed out and every app was disconnected.";
        match self {
            Self::PasswordChanged => (
                "Your password was changed",
                format!("Your password was changed. {signed_out}"),
            ),
            Self::PasswordReset => (
                "Your password was reset",
                format!("Your password was reset by the link in a mail. {signed_out}"),
            ),
            Self::PasswordSet => (
                "Your password was set by an administrator",
                format!("An administrator set another password for you. {signed_out}"),
            ),
            Self::MfaEnabled => (
                "Two-step sign-in is on",
                format!("Signing in asks for a one-time code now. {signed_out}"),
            ),
            Self::MfaDisabled => (
                "Two-step sign-in is off",
                format!("Signing in asks for no one-time code any more. {signed_out}"),
            ),
            Self::RecoveryCodeUsed(left) => (
                "A recovery code was used",
                format!("Someone signed in with one of your recovery codes; {left} are left."),
            ),
            Self::EmailChanged { to } => (
                "Your e-mail address was changed",
                format!("The address of your account is {to} now. {signed_out}"),
            ),
            Self::EmailChangeAsked { to } => (
                "Another e-mail address was asked for",
                format!(
                    "Somebody who knows your password asked to make {to} the address of your account. It becomes so \
                     once a link that was mailed there is opened."
                ),
            ),
            Self::AccountDeleted => (
                "Your account was deleted",
                "Your account was deleted at your wish. Posts and comments stay without your name."
                    .to_owned(),
            ),
        }
    }
}
