//! The texts of mails with a link to one of the issuer's pages. The link carries a token.

use crate::message::{Mail, origin_phrase};
use foundation::context::RequestContext;
use foundation::duration::in_words;
use foundation::secret::Secret;
use std::time::Duration;

/// The purpose of a mailed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Opens the form for a new password.
    PasswordReset,
    /// Opens the page that confirms the address of an account.
    EmailVerification,
    /// Opens the page that changes the address of an account to the one that the mail was sent to.
    EmailChange,
}

impl Link {
    /// The path of the page that resets a password.
    pub const RESET: &'static str = "/reset";
    /// The path of the page that confirms an address.
    pub const VERIFY: &'static str = "/verify";

    /// Returns the mail with the link to a page of `issuer` that carries `token`. `lifetime` is that of the
    /// token.
    pub(super) fn to_mail(
        self,
        to: Option<&str>,
        issuer: &str,
        (token, lifetime): (&Secret, Duration),
        context: &RequestContext,
    ) -> Mail {
        let Texts {
            subject,
            path,
            cause,
            instruction,
        } = self.texts();
        let from = origin_phrase(context);
        // The link has a line of its own, so that it can be copied from a mail program that does not open
        // links.
        let text = format!(
            "At {when}, someone{from} {cause} at {issuer}.\n\n{instruction}:\n\n{issuer}{path}?token={token}\n\nThe \
             link works once and expires after {lifetime}.\n\nIf this was not you, ignore this e-mail and do not open \
             the link. Nothing will change.\n",
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

    const fn texts(self) -> Texts {
        match self {
            Self::PasswordReset => Texts {
                subject: "Reset your password",
                path: Self::RESET,
                cause: "asked to reset the password of your account",
                instruction: "Choose a new password here",
            },
            Self::EmailVerification => Texts {
                subject: "Confirm your e-mail address",
                path: Self::VERIFY,
                cause: "entered this e-mail address for their account",
                instruction: "If the account is yours, confirm the address here, signed in or with your password",
            },
            Self::EmailChange => Texts {
                subject: "Confirm your new e-mail address",
                path: Self::VERIFY,
                cause: "asked to use this e-mail address for their account",
                instruction: "If the account is yours, confirm the change here, signed in or with your password. It signs you out \
                              of every session",
            },
        }
    }
}

/// The parts of a mail that depend on the link's purpose.
struct Texts {
    subject: &'static str,
    path: &'static str,
    /// Completes "someone … at the issuer".
    cause: &'static str,
    /// The sentence before the link, without its colon.
    instruction: &'static str,
}
