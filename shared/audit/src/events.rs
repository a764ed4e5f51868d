//! Security events, written in the transaction of what they report, and a log line each.

pub mod list;

use crate::alerts::{self, AlertKind};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::log;
use foundation::network;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, sql};

sql! {
    INSERT = "INSERT INTO security_events
              (at, name, outcome, user_id, client_id, address, network, trace_id, detail)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    PRUNE = "DELETE FROM security_events WHERE id IN
             (SELECT id FROM security_events WHERE at <= $1 ORDER BY at LIMIT $2)";
}

/// Rows deleted in one transaction: so few that nobody waits for it.
const BATCH: i64 = 500;

/// What happened, by its name in the OWASP logging vocabulary where that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventName {
    /// A sign-in with the right password.
    LoginSuccess,
    /// A sign-in with a wrong e-mail or password.
    LoginFail,
    /// The failure that locked an identity and address out.
    LoginLock,
    /// A session ended at its user's wish.
    Logout,
    /// A session was ended from another one of its user.
    SessionRevoked,
    /// A password was changed.
    PasswordChange,
    /// Sign-in asks for a one-time code from now on.
    MfaEnabled,
    /// Sign-in asks for no one-time code any more.
    MfaDisabled,
    /// A recovery code was used in place of a one-time code.
    RecoveryCodeUsed,
    /// The failures of an account were forgotten.
    LoginUnlock,
    /// A user got another role.
    RoleChange,
    /// A mail with a link to a new password was asked for.
    PasswordResetRequest,
    /// A password was replaced by such a link.
    PasswordReset,
    /// A mail that confirms the account's address was asked for.
    EmailVerificationRequest,
    /// The account's address was confirmed.
    EmailVerified,
    /// Another address was asked for.
    EmailChangeRequest,
    /// The account's address was changed.
    EmailChange,
    /// An account was made.
    UserCreated,
    /// An account was disabled.
    UserDisabled,
    /// A disabled account was enabled.
    UserEnabled,
    /// An account was deleted by its user.
    UserDeleted,
    /// A client was registered.
    ClientCreated,
    /// A user consented to a client's request, or denied it.
    Consent,
    /// A user took their consent back.
    ConsentRevoked,
    /// A used authorization code came again, with everything else right.
    CodeReuse,
    /// A used refresh token came again.
    RefreshReuse,
    /// Tokens were revoked.
    TokenRevoked,
    /// A signing key was made and published.
    KeyStaged,
    /// A signing key began to sign.
    KeyActivated,
    /// A signing key ceased to sign.
    KeyRetired,
    /// A signing key's last token was dead, and its private half was erased.
    KeyDeleted,
    /// A signing key was thrown away because somebody else may have it.
    KeyCompromised,
    /// A signed-in caller was refused.
    AuthorizationFail,
    /// A call without the anti-forgery token was refused.
    CsrfFail,
    /// An idempotency key came again with another body.
    IdempotencyConflict,
}

impl EventName {
    /// The name as stored and logged.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoginSuccess => "authn_login_success",
            Self::LoginFail => "authn_login_fail",
            Self::LoginLock => "authn_login_lock",
            Self::Logout => "authn_logout",
            Self::SessionRevoked => "authn_session_revoked",
            Self::PasswordChange => "authn_password_change",
            Self::MfaEnabled => "authn_mfa_enabled",
            Self::MfaDisabled => "authn_mfa_disabled",
            Self::RecoveryCodeUsed => "authn_recovery_code_used",
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
            Self::Consent => "authz_consent",
            Self::ConsentRevoked => "authz_consent_revoked",
            Self::CodeReuse => "authn_code_reuse",
            Self::RefreshReuse => "authn_token_reuse",
            Self::TokenRevoked => "authn_token_revoked",
            Self::KeyStaged => "key_staged",
            Self::KeyActivated => "key_activated",
            Self::KeyRetired => "key_retired",
            Self::KeyDeleted => "key_deleted",
            Self::KeyCompromised => "key_compromised",
            Self::AuthorizationFail => "authz_fail",
            Self::CsrfFail => "malicious_csrf",
            Self::IdempotencyConflict => "idempotency_conflict",
        }
    }

    /// The alert that one such event is by itself.
    const fn alert(self) -> Option<AlertKind> {
        match self {
            Self::CodeReuse => Some(AlertKind::CodeReuse),
            Self::RefreshReuse => Some(AlertKind::RefreshReuse),
            Self::KeyCompromised => Some(AlertKind::KeyCompromised),
            _ => None,
        }
    }
}

/// One event. Begin with [`success`](Event::success) or [`failure`](Event::failure).
#[derive(Clone, Debug)]
pub struct Event {
    name: EventName,
    outcome: &'static str,
    user_id: Option<i64>,
    client_id: Option<String>,
    detail: Option<String>,
}

impl Event {
    /// Something that was done.
    pub fn success(name: EventName) -> Self {
        Self {
            name,
            outcome: "success",
            user_id: None,
            client_id: None,
            detail: None,
        }
    }

    /// Something that was refused.
    pub fn failure(name: EventName) -> Self {
        Self {
            outcome: "failure",
            ..Self::success(name)
        }
    }

    /// Names the user it concerns.
    #[must_use]
    pub fn user(mut self, id: impl Into<Option<i64>>) -> Self {
        self.user_id = id.into();
        self
    }

    /// Names the client it concerns.
    #[must_use]
    pub fn client(mut self, id: &str) -> Self {
        self.client_id = Some(id.to_owned());
        self
    }

    /// Says more; never a secret.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Writes the event in the caller's transaction, and the alert that it is; the commit logs it.
    pub async fn record(self, tx: &mut Tx, context: &RequestContext) -> Result<(), Error> {
        let address = context.address.map(|address| address.to_string());
        execute!(
            tx.on(),
            INSERT,
            context.now,
            self.name.as_str(),
            self.outcome,
            self.user_id,
            self.client_id.as_deref(),
            address.as_deref(),
            context.address.map(network::of_address),
            context.trace_id.as_str(),
            self.detail.as_deref(),
        )?;
        if let Some(kind) = self.name.alert() {
            let about = alerts::About {
                user_id: self.user_id,
                client_id: self.client_id.as_deref(),
                detail: self.detail.as_deref(),
            };
            alerts::raise(tx, kind, &about, context).await?;
        }
        let trace_id = context.trace_id.clone();
        tx.after_commit(move || self.log(address.as_deref(), &trace_id));
        Ok(())
    }

    /// Writes the log line of a committed event.
    fn log(&self, address: Option<&str>, trace_id: &str) {
        tracing::info!(
            target: log::SECURITY,
            event = self.name.as_str(),
            outcome = self.outcome,
            user_id = self.user_id,
            client_id = self.client_id,
            address,
            trace_id,
            detail = self.detail,
        );
    }

    /// Writes an event that reports no other write.
    pub async fn record_alone(self, db: &Db, context: &RequestContext) -> Result<(), Error> {
        let mut tx = db.begin().await?;
        self.record(&mut tx, context).await?;
        tx.commit().await
    }
}

/// Deletes events that are older than they are kept, few at a time.
pub async fn prune(db: &Db, kept: Duration, now: Timestamp) -> Result<(), Error> {
    while execute!(db.writer(), PRUNE, now.before(kept), BATCH)? == BATCH.cast_unsigned() {}
    Ok(())
}
