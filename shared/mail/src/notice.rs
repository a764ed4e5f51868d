//! The texts of notices about changes to an account.

use crate::message::{Mail, origin_phrase};
use foundation::context::RequestContext;

/// A change to an account that its owner is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The user changed the password, or set one.
    PasswordChanged,
    /// The password was replaced through a mailed link.
    PasswordReset {
        /// Whether passkeys of the account were removed.
        had_passkeys: bool,
    },
    /// The user removed the password.
    PasswordRemoved,
    /// An administrator set a new password.
    PasswordSet {
        /// Whether passkeys of the account were removed.
        had_passkeys: bool,
    },
    /// Sign-in now requires a one-time code.
    MfaEnabled,
    /// Sign-in no longer requires a one-time code.
    MfaDisabled,
    /// A recovery code was used instead of a one-time code. Holds the number of unused recovery codes.
    RecoveryCodeUsed(usize),
    /// The user replaced the recovery codes by new ones.
    RecoveryCodesRenewed,
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// An administrator removed all passkeys.
    PasskeysRemoved,
    /// Wrong codes of two-step sign-in locked the account.
    CodesLocked,
    /// The address of the account was changed. Sent to the old address.
    EmailChanged {
        /// The new address.
        to: &'a str,
    },
    /// A change of address was requested and not confirmed yet. Sent to the present address.
    EmailChangeRequested {
        /// The requested address.
        to: &'a str,
    },
    /// The account was deleted.
    AccountDeleted,
}

impl Notice<'_> {
    /// Returns the mail to `email` about its account at `issuer`.
    pub(super) fn to_mail(self, email: &str, issuer: &str, context: &RequestContext) -> Mail {
        let (subject, message) = self.texts();
        let from = origin_phrase(context);
        let text = format!(
            "{message}\n\nThis happened at {when}{from}, for the account {email} at {issuer}.\n\nIf this was not you, \
             reset your password right away and contact the administrator.\n",
            when = context.now,
        );
        Mail {
            to: Some(email.to_owned()),
            subject: subject.to_owned(),
            text,
        }
    }

    /// Returns the subject and the first paragraph.
    fn texts(self) -> (&'static str, String) {
        let signed_out = "You have been signed out of every session, and every app has been disconnected.";
        let signed_out_elsewhere = "You have been signed out of every session except the one that made this change, \
                                    and every app has been disconnected.";
        let passkeys_removed = |had_passkeys| match had_passkeys {
            true => " The passkeys of your account no longer sign in.",
            false => "",
        };
        match self {
            Self::PasswordChanged => (
                "Your password was changed",
                format!(
                    "Your password was changed. {signed_out} Passkeys, if you have any, still sign in: your account page \
                     lists them."
                ),
            ),
            Self::PasswordReset { had_passkeys } => (
                "Your password was reset",
                format!(
                    "Your password was reset with a link that we sent you by e-mail. {signed_out}{}",
                    passkeys_removed(had_passkeys)
                ),
            ),
            Self::PasswordRemoved => (
                "Your password was removed",
                format!("Your account has no password any more: its passkeys alone sign in. {signed_out_elsewhere}"),
            ),
            Self::PasswordSet { had_passkeys } => (
                "Your password was set by an administrator",
                format!(
                    "An administrator set a new password for your account. {signed_out}{}",
                    passkeys_removed(had_passkeys)
                ),
            ),
            Self::MfaEnabled => (
                "Two-step sign-in is on",
                format!("Signing in with your password now requires a one-time code. {signed_out_elsewhere}"),
            ),
            Self::MfaDisabled => (
                "Two-step sign-in is off",
                format!("Signing in with your password no longer requires a one-time code. {signed_out_elsewhere}"),
            ),
            Self::RecoveryCodeUsed(remaining) => (
                "A recovery code was used",
                format!(
                    "Someone signed in to your account with one of your recovery codes. Unused codes left: {remaining}. \
                     You can replace them on your account page."
                ),
            ),
            Self::RecoveryCodesRenewed => (
                "Your recovery codes were replaced",
                "New recovery codes were made for your account. The former ones no longer work.".to_owned(),
            ),
            Self::PasskeyAdded => (
                "A passkey was added",
                "A passkey was added to your account. It signs in without your password and without a one-time code."
                    .to_owned(),
            ),
            Self::PasskeyRemoved => (
                "A passkey was removed",
                format!("A passkey of your account was removed and no longer signs in. {signed_out_elsewhere}"),
            ),
            Self::PasskeysRemoved => (
                "Your passkeys were removed by an administrator",
                format!("An administrator removed the passkeys of your account. {signed_out}"),
            ),
            Self::CodesLocked => (
                "Someone is trying your one-time codes",
                "Someone who knows your password entered many wrong one-time codes. Codes for your account are refused \
                 until a day has passed, or until you reset your password."
                    .to_owned(),
            ),
            Self::EmailChanged { to } => (
                "Your e-mail address was changed",
                format!("The e-mail address of your account is now {to}. {signed_out}"),
            ),
            Self::EmailChangeRequested { to } => (
                "A new e-mail address was requested",
                format!(
                    "Someone who is signed in to your account asked to change its e-mail address to {to}. The \
                     change takes effect when it is confirmed with the link that we sent to that address."
                ),
            ),
            Self::AccountDeleted => (
                "Your account was deleted",
                "Your account was deleted at your request. Your posts and comments remain, without your name."
                    .to_owned(),
            ),
        }
    }
}
