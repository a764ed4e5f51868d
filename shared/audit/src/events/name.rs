//! The names of security events.

use crate::alerts::AlertKind;

/// The name of an event, from the OWASP logging vocabulary if it has a suitable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventName {
    /// A user signed in.
    LoginSuccess,
    /// A password or one-time code was wrong, or the e-mail address unknown.
    LoginFail,
    /// Too many failed sign-ins locked an account for one network.
    LoginLock,
    /// Too many wrong codes of two-step sign-in locked an account.
    MfaLock,
    /// A user signed out.
    Logout,
    /// One or all sessions of a user were ended, from another session or by an administrator.
    SessionRevoked,
    /// A password was changed.
    PasswordChange,
    /// A user enabled one-time codes at sign-in.
    MfaEnabled,
    /// One-time codes at sign-in were disabled.
    MfaDisabled,
    /// A recovery code was used instead of a one-time code.
    RecoveryCodeUsed,
    /// A user added a passkey.
    PasskeyAdded,
    /// A passkey, or all passkeys of a user, were removed.
    PasskeyRemoved,
    /// A user removed the password.
    PasswordRemoved,
    /// The lockouts and failed sign-ins of an account were cleared.
    LoginUnlock,
    /// A user's role was changed.
    RoleChange,
    /// A mail with a password-reset link was requested.
    PasswordResetRequest,
    /// A password was reset through a mailed link.
    PasswordReset,
    /// A mail that confirms the account's address was requested.
    EmailVerificationRequest,
    /// The account's address was confirmed.
    EmailVerified,
    /// A change of the account's address was requested.
    EmailChangeRequest,
    /// The account's address was changed.
    EmailChange,
    /// An account was created.
    UserCreated,
    /// An account was disabled.
    UserDisabled,
    /// A disabled account was enabled.
    UserEnabled,
    /// An account was deleted by its user.
    UserDeleted,
    /// A client was registered.
    ClientCreated,
    /// A client's registration was changed.
    ClientUpdated,
    /// A client got a new secret.
    ClientSecretRotated,
    /// A client was disabled.
    ClientDisabled,
    /// A disabled client was enabled.
    ClientEnabled,
    /// A client deleted its own registration.
    ClientDeleted,
    /// A user allowed or denied a client's request.
    Consent,
    /// A consent was revoked, by its user or by an administrator.
    ConsentRevoked,
    /// An authorization code or a device code was used a second time, in an otherwise valid request.
    CodeReuse,
    /// A refresh token was used a second time.
    RefreshReuse,
    /// An initial access token was created, with which clients register themselves.
    TokenCreated,
    /// Tokens were revoked.
    TokenRevoked,
    /// A signing key was generated and published.
    KeyStaged,
    /// A signing key became the active one.
    KeyActivated,
    /// A signing key stopped being the active one.
    KeyRetired,
    /// A signing key's private half was erased after its last token expired.
    KeyDeleted,
    /// A signing key was removed because it may be compromised.
    KeyCompromised,
    /// The rows of the issuer were sealed under another master key.
    KeysResealed,
    /// An authenticated caller lacked a permission.
    AuthorizationFail,
    /// A request without a valid CSRF token was rejected.
    CsrfFail,
    /// An idempotency key was reused with a different request body.
    IdempotencyConflict,
}

impl EventName {
    /// Returns the name in the database and in logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoginSuccess => "authn_login_success",
            Self::LoginFail => "authn_login_fail",
            Self::LoginLock => "authn_login_lock",
            Self::MfaLock => "authn_mfa_lock",
            Self::Logout => "authn_logout",
            Self::SessionRevoked => "authn_session_revoked",
            Self::PasswordChange => "authn_password_change",
            Self::MfaEnabled => "authn_mfa_enabled",
            Self::MfaDisabled => "authn_mfa_disabled",
            Self::RecoveryCodeUsed => "authn_recovery_code_used",
            Self::PasskeyAdded => "authn_passkey_added",
            Self::PasskeyRemoved => "authn_passkey_removed",
            Self::PasswordRemoved => "authn_password_removed",
            Self::LoginUnlock => "authn_login_unlock",
            Self::RoleChange => "privilege_permissions_changed",
            Self::PasswordResetRequest => "authn_password_reset_request",
            Self::PasswordReset => "authn_password_reset",
            Self::EmailVerificationRequest => "authn_email_verification_request",
            Self::EmailVerified => "authn_email_verified",
            Self::EmailChangeRequest => "authn_email_change_request",
            Self::EmailChange => "authn_email_change",
            Self::UserCreated => "user_created",
            Self::UserDisabled => "user_disabled",
            Self::UserEnabled => "user_enabled",
            Self::UserDeleted => "user_deleted",
            Self::ClientCreated => "client_created",
            Self::ClientUpdated => "client_updated",
            Self::ClientSecretRotated => "client_secret_rotated",
            Self::ClientDisabled => "client_disabled",
            Self::ClientEnabled => "client_enabled",
            Self::ClientDeleted => "client_deleted",
            Self::Consent => "authz_consent",
            Self::ConsentRevoked => "authz_consent_revoked",
            Self::CodeReuse => "authn_code_reuse",
            Self::RefreshReuse => "authn_token_reuse",
            Self::TokenCreated => "authn_token_created",
            Self::TokenRevoked => "authn_token_revoked",
            Self::KeyStaged => "key_staged",
            Self::KeyActivated => "key_activated",
            Self::KeyRetired => "key_retired",
            Self::KeyDeleted => "key_deleted",
            Self::KeyCompromised => "key_compromised",
            Self::KeysResealed => "keys_resealed",
            Self::AuthorizationFail => "authz_fail",
            Self::CsrfFail => "malicious_csrf",
            Self::IdempotencyConflict => "idempotency_conflict",
        }
    }

    /// Returns whether a client can cause any number of such events with little effort.
    pub(super) const fn is_counted(self) -> bool {
        matches!(
            self,
            Self::LoginFail
                | Self::CsrfFail
                | Self::AuthorizationFail
                | Self::IdempotencyConflict
                | Self::Consent
        )
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
