//! The names of security events.

use crate::alerts::AlertKind;

/// Declares the names, each with its text in the database and in logs.
macro_rules! event_names {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)+) => {
        /// The name of an event, from the OWASP logging vocabulary if it has a suitable one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventName {
            $($(#[$doc])* $name,)+
        }

        foundation::names!(EventName: $($name = $text),+);
    };
}

event_names! {
    /// A user signed in.
    LoginSuccess = "authn_login_success",
    /// A password or one-time code was wrong, or the e-mail address unknown.
    LoginFail = "authn_login_fail",
    /// Too many failed sign-ins locked an account for one network.
    LoginLock = "authn_login_lock",
    /// Too many wrong codes of two-step sign-in locked an account.
    MfaLock = "authn_mfa_lock",
    /// A user signed out.
    Logout = "authn_logout",
    /// One or all sessions of a user were ended, from another session or by an administrator.
    SessionRevoked = "authn_session_revoked",
    /// A password was changed.
    PasswordChange = "authn_password_change",
    /// A user enabled one-time codes at sign-in.
    MfaEnabled = "authn_mfa_enabled",
    /// One-time codes at sign-in were disabled.
    MfaDisabled = "authn_mfa_disabled",
    /// A recovery code was used instead of a one-time code.
    RecoveryCodeUsed = "authn_recovery_code_used",
    /// A user replaced the recovery codes by new ones.
    RecoveryCodesRenewed = "authn_recovery_codes_renewed",
    /// A user added a passkey.
    PasskeyAdded = "authn_passkey_added",
    /// A passkey, or all passkeys of a user, were removed.
    PasskeyRemoved = "authn_passkey_removed",
    /// A user removed the password.
    PasswordRemoved = "authn_password_removed",
    /// The lockouts and failed sign-ins of an account were cleared.
    LoginUnlock = "authn_login_unlock",
    /// A user's role was changed.
    RoleChange = "privilege_permissions_changed",
    /// A mail with a password-reset link was requested.
    PasswordResetRequest = "authn_password_reset_request",
    /// A password was reset through a mailed link.
    PasswordReset = "authn_password_reset",
    /// A mail that confirms the account's address was requested.
    EmailVerificationRequest = "authn_email_verification_request",
    /// The account's address was confirmed.
    EmailVerified = "authn_email_verified",
    /// A change of the account's address was requested.
    EmailChangeRequest = "authn_email_change_request",
    /// The account's address was changed.
    EmailChange = "authn_email_change",
    /// An account was created.
    UserCreated = "user_created",
    /// An account was disabled.
    UserDisabled = "user_disabled",
    /// A disabled account was enabled.
    UserEnabled = "user_enabled",
    /// An account was deleted by its user.
    UserDeleted = "user_deleted",
    /// A client was registered.
    ClientCreated = "client_created",
    /// A client's registration was changed.
    ClientUpdated = "client_updated",
    /// A client got a new secret.
    ClientSecretRotated = "client_secret_rotated",
    /// A client was disabled.
    ClientDisabled = "client_disabled",
    /// A disabled client was enabled.
    ClientEnabled = "client_enabled",
    /// A client deleted its own registration.
    ClientDeleted = "client_deleted",
    /// A user gave a client access that it did not have, connected a device, or denied one of these.
    Consent = "authz_consent",
    /// A client got a code for access that it had already.
    AccessRenewed = "authz_access_renewed",
    /// A consent was revoked, by its user or by an administrator.
    ConsentRevoked = "authz_consent_revoked",
    /// An authorization code or a device code was used a second time, in an otherwise valid request.
    CodeReuse = "authn_code_reuse",
    /// A refresh token was used a second time.
    RefreshReuse = "authn_token_reuse",
    /// An initial access token was created, with which clients register themselves.
    TokenCreated = "authn_token_created",
    /// Tokens were revoked.
    TokenRevoked = "authn_token_revoked",
    /// A signing key was generated and published.
    KeyStaged = "key_staged",
    /// A signing key became the active one.
    KeyActivated = "key_activated",
    /// A signing key stopped being the active one.
    KeyRetired = "key_retired",
    /// A signing key's private half was erased after its last token expired.
    KeyDeleted = "key_deleted",
    /// A signing key was removed because it may be compromised.
    KeyCompromised = "key_compromised",
    /// The rows of the issuer were sealed under another master key.
    KeysResealed = "keys_resealed",
    /// An authenticated caller lacked a permission.
    AuthorizationFail = "authz_fail",
    /// A request without a valid CSRF token was rejected.
    CsrfFail = "malicious_csrf",
    /// An idempotency key was reused with a different request body.
    IdempotencyConflict = "idempotency_conflict",
}

impl EventName {
    /// Returns whether a client can cause any number of such events with little effort.
    pub(super) const fn is_counted(self) -> bool {
        matches!(
            self,
            Self::LoginFail
                | Self::CsrfFail
                | Self::AuthorizationFail
                | Self::IdempotencyConflict
                | Self::Consent
                | Self::AccessRenewed
        )
    }

    /// Returns whether the detail has addresses of the user, which no line of the log may have.
    pub(super) const fn has_personal_detail(self) -> bool {
        matches!(self, Self::EmailChange)
    }

    /// Returns the alert that a single event of this name raises, if any.
    pub(super) const fn alert(self) -> Option<AlertKind> {
        match self {
            Self::CodeReuse => Some(AlertKind::CodeReuse),
            Self::RefreshReuse => Some(AlertKind::RefreshReuse),
            Self::KeyCompromised => Some(AlertKind::KeyCompromised),
            Self::MfaLock => Some(AlertKind::CodeGuesses),
            _ => None,
        }
    }
}
