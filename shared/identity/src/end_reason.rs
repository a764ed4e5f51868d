//! The reasons for which sessions and refresh token families end before their lifetime.

use foundation::clock::Timestamp;

/// The end of a session or of a refresh token family.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The reason.
    pub reason: EndReason,
    /// The time, if it is known.
    pub at: Option<Timestamp>,
}

impl End {
    /// Returns an end for this reason at this time.
    pub const fn new(reason: EndReason, at: Timestamp) -> Self {
        Self { reason, at: Some(at) }
    }
}

/// Declares the reasons, each with its name in the database, and with words that complete a sentence, for
/// administrators and for the developer of an app.
macro_rules! end_reasons {
    ($($reason:ident: $name:literal, $words:literal;)+) => {
        /// The reason for which a session or a refresh token family ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EndReason {
            $(#[doc = concat!("Because ", $words, ".")] $reason,)+
        }

        foundation::names!(EndReason: $($reason = $name),+);

        impl EndReason {
            /// Returns the reason in words that complete a sentence, for administrators and for the developer
            /// of an app.
            pub const fn in_words(self) -> &'static str {
                match self {
                    $(Self::$reason => $words,)+
                }
            }
        }
    };
}

end_reasons! {
    PasswordChanged: "password_changed", "the user changed the password";
    PasswordReset: "password_reset", "the user reset the password";
    PasswordRemoved: "password_removed", "the user removed the password";
    PasswordReplaced: "password_replaced", "an administrator replaced the user's password";
    ChangedHere: "changed_here", "the user changed the password or another way to sign in, in this session";
    EmailChanged: "email_changed", "the user changed the e-mail address";
    TwoStepOn: "two_step_on", "the user turned two-step sign-in on";
    TwoStepOff: "two_step_off", "the user turned two-step sign-in off";
    TwoStepReset: "two_step_reset", "an administrator turned two-step sign-in off or removed the passkeys";
    PasskeyRemoved: "passkey_removed", "the user removed a passkey";
    RoleChanged: "role_changed", "an administrator changed the user's role";
    AccountDisabled: "account_disabled", "an administrator disabled the account";
    AccountDeleted: "account_deleted", "the user deleted the account";
    SignedOutByAdministrator: "signed_out_by_administrator", "an administrator signed the user out";
    SignedOutElsewhere: "signed_out_elsewhere", "the user ended the session on another device";
    SignedOut: "signed_out", "the user signed out";
    NewerSignIns: "newer_sign_ins", "the user has too many newer sign-ins";
    Unused: "unused", "it was unused for too long";
    Expired: "expired", "the longest time since the sign-in had passed";
    ConsentRevoked: "consent_withdrawn", "the user or an administrator disconnected the app";
    UsedTwice: "used_twice", "a code or a refresh token of this grant was used twice";
    RevokedByApp: "revoked_by_app", "the app revoked it";
    RedirectUriRemoved: "redirect_uri_removed", "the metadata document of the app no longer lists the redirect URI";
    Restored: "restored", "the service was restored from a backup";
    AllOfApp: "all_of_app", "all tokens of the app were revoked";
    AllOfUser: "all_of_user", "all sessions and tokens of the user were revoked";
}

impl EndReason {
    /// Returns the reason with this name in the database. An unknown name, which a newer version may have
    /// stored, is the reason that says least.
    pub(crate) fn stored(name: &str) -> Self {
        Self::named(name).unwrap_or(Self::AllOfUser)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements contain these names.
    #[test]
    fn the_names_in_statements_are_known() {
        assert_eq!(EndReason::stored("unused"), EndReason::Unused);
        assert_eq!(EndReason::stored("expired"), EndReason::Expired);
        assert_eq!(EndReason::stored("changed_here"), EndReason::ChangedHere);
        assert_eq!(EndReason::stored("all_of_app"), EndReason::AllOfApp);
        assert_eq!(EndReason::AllOfUser.as_str(), "all_of_user");
    }

    #[test]
    fn an_unknown_name_is_the_reason_that_says_least() {
        assert_eq!(EndReason::stored("of_a_newer_version"), EndReason::AllOfUser);
    }
}
