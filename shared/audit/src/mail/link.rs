//! Mails with a link to one of the issuer's pages, which carries a token.

use crate::mail::Mail;
use foundation::context::RequestContext;
use foundation::duration::in_words;
use foundation::secret::Secret;
use std::time::Duration;

/// Where the link leads, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// To the form for a new password.
    PasswordReset,
    /// To the page that confirms the address of an account.
    EmailVerification,
    /// To the same page: it makes the address that of the account.
    EmailChange,
}

impl Link {
    /// The path of the page that a password is reset on.
    pub const RESET: &'static str = "/reset";
    /// The path of the page that an address is confirmed on.
    pub const VERIFY: &'static str = "/verify";

    pub(super) fn to_mail(
        self,
        to: Option<&str>,
        issuer: &str,
        (token, lifetime): (&Secret, Duration),
        context: &RequestContext,
    ) -> Mail {
        let (subject, path, asked, what) = self.words();
        let from = context
            .address
            .map(|address| format!(" from the address {address}"))
            .unwrap_or_default();
        // The link stands on a line of its own: it is long, and is copied by hand where no mail program opens it.
        let text = format!(
            "At {when} somebody{from} {asked} at {issuer}.\n\n{what}:\n\n{issuer}{path}?token={token}\n\nThe link works \
             once, and for {lifetime}.\n\nIf it was not you, do not open it: then nothing changes.\n",
            when = context.now,
            token = token.expose(),
            lifetime = in_words(lifetime),
        );
        Mail {
            to: to.map(str::to_owned),
            subject: subject.to_owned(),
            text,
        }
    }

    /// The subject, the path, what was asked, and what the link does.
    const fn words(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::PasswordReset => (
                "Reset your password",
                Self::RESET,
                "asked for a new password for your account",
                "Choose one here",
            ),
            Self::EmailVerification => (
                "Confirm your e-mail address",
                Self::VERIFY,
                "gave this address as that of their account",
                "If the account is yours, confirm the address here",
            ),
            Self::EmailChange => (
                "Confirm your new e-mail address",
                Self::VERIFY,
                "asked to make this address that of their account",
                "If the account is yours, confirm the change here. Every session is signed out by it",
            ),
        }
    }
}
