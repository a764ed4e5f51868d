//! The changes of an account that an administrator makes on its page.

use super::{Count, InTerminal, quoted};
use crate::pages::text::{self, Text};
use foundation::names;
use identity::users::Role;

/// A change of an account, as a form names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserChange {
    /// Disable the account.
    Disable,
    /// Enable the account.
    Enable,
    /// End all sessions and tokens.
    SignOut,
    /// Delete the failed sign-ins.
    Unlock,
    /// Turn two-step sign-in off and remove the passkeys.
    ResetSecondFactor,
    /// Generate an initial password.
    SetPassword,
    /// Give the user this role.
    Role(Role),
    /// End one session.
    EndSession,
    /// Revoke the consent to one app.
    RevokeConsent,
}

names! {
    UserChange:
    Disable = "disable",
    Enable = "enable",
    SignOut = "sign-out",
    Unlock = "unlock",
    ResetSecondFactor = "reset-second-factor",
    SetPassword = "set-password",
    Role(Role::User) = "role-user",
    Role(Role::Editor) = "role-editor",
    Role(Role::Admin) = "role-admin",
    EndSession = "end-session",
    RevokeConsent = "revoke-consent",
}

impl UserChange {
    /// Returns the label of the button, and the effect on an account with these numbers of sessions,
    /// connected apps and refresh tokens.
    pub(in crate::pages) fn in_words(
        self,
        [sessions, apps, families]: [Count; 3],
        is_disabled: bool,
    ) -> (Text<'static>, Text<'static>) {
        let (label, effect) = match self {
            Self::Disable => (text::of("user-disable"), text::of("user-disable-effect")),
            Self::Enable => (text::of("user-enable"), text::of("user-enable-effect")),
            Self::Unlock => (text::of("user-unlock"), text::of("user-unlock-effect")),
            Self::SetPassword => (
                text::of("user-set-password"),
                text::of("user-set-password-effect"),
            ),
            Self::ResetSecondFactor => (
                text::of("user-reset-second-factor"),
                text::of("user-reset-second-factor-effect"),
            ),
            Self::Role(role) => {
                let label = match role {
                    Role::User => text::of("user-make-user"),
                    Role::Editor => text::of("user-make-editor"),
                    Role::Admin => text::of("user-make-admin"),
                };
                (label, text::of("user-role-effect"))
            }
            Self::SignOut | Self::EndSession | Self::RevokeConsent => {
                (text::of("user-sign-out"), text::of("user-sign-out-effect"))
            }
        };
        let shown = |text: Text<'static>, count: Count| {
            let text = text.count("n", count.n).with("shown", count.in_words());
            text.plain()
        };
        let state = match is_disabled {
            true => "disabled",
            false => "enabled",
        };
        let effect = effect
            .with("state", state)
            .with("sessions", shown(text::of("user-ended-sessions"), sessions))
            .with("apps", shown(text::of("user-ended-apps"), apps))
            .with("families", shown(text::of("user-ended-families"), families));
        (label, effect)
    }

    /// Returns the command and the call that make the change to the account with this address, whose URL at
    /// the API is `url`.
    pub(super) fn in_terminal(self, email: &str, url: &str) -> InTerminal {
        let (command, call) = match self {
            Self::Disable => ("disable", format!("-X POST {url}/disablements")),
            Self::Enable => ("enable", format!("-X POST {url}/enablements")),
            Self::Unlock => ("unlock", format!("-X DELETE {url}/lockouts")),
            Self::ResetSecondFactor => ("reset-mfa", format!("-X DELETE {url}/mfa")),
            Self::SetPassword => ("set-password", format!("-X PUT {url}/password")),
            Self::Role(role) => {
                let command = format!(
                    "users set-role --email {} --role {}",
                    quoted(email),
                    role.as_str()
                );
                let body = format!("{{\"role\":\"{}\"}}", role.as_str());
                let call = format!("-X PATCH -H 'Content-Type: application/json' -d '{body}' {url}");
                return InTerminal::new(&command, &call);
            }
            Self::SignOut | Self::EndSession | Self::RevokeConsent => {
                ("sign-out", format!("-X DELETE {url}/sessions"))
            }
        };
        InTerminal::new(&format!("users {command} --email {}", quoted(email)), &call)
    }

    /// Returns whether the change only ends access, so that it does not wait for the repair of a clock.
    pub(crate) const fn only_ends_access(self) -> bool {
        matches!(
            self,
            Self::Disable | Self::SignOut | Self::EndSession | Self::RevokeConsent
        )
    }

    /// Returns whether the change ends something.
    pub(super) const fn is_dangerous(self) -> bool {
        !matches!(self, Self::Enable | Self::Unlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_found_by_its_name() {
        for change in UserChange::ALL {
            assert_eq!(UserChange::named(change.as_str()), Some(change));
        }
        assert_eq!(UserChange::named("role-owner"), None);
        assert_eq!(UserChange::named(""), None);
    }
}
