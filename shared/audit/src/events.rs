//! Security events: each is written in the transaction of the change it reports, and logged after the commit.

pub mod list;
pub mod pseudonyms;
mod recorder;

pub use recorder::EventRecorder;

use crate::alerts::{self, AlertKind, AlertSubject};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::{log, network};
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, fetch_one, sql};

/// The text of the statement that inserts an event. The stored event does not name a user or an administrator whose
/// account was deleted, and has no address if such an account made the request. `$lock` is a locking clause for the
/// rows of those users, or empty. The statement reads the table `users`, which another module owns, so that an event
/// takes one round trip.
macro_rules! insert {
    ($lock:literal) => {
        concat!(
            "WITH existing AS (SELECT id FROM users WHERE id IN ($4, $10) AND deleted_at IS NULL",
            $lock,
            ")
             INSERT INTO security_events
             (at, name, outcome, user_id, client_id, address, network, trace_id, detail, administrator_id, count)
             SELECT $1, $2, $3, (SELECT id FROM existing WHERE id = $4), $5,
                    CASE WHEN caller.is_nameable THEN $6 END, CASE WHEN caller.is_nameable THEN $7 END, $8, $9,
                    (SELECT id FROM existing WHERE id = $10), $11
             FROM (SELECT COALESCE($10, $4) IS NULL OR COALESCE($10, $4) IN (SELECT id FROM existing) AS is_nameable)
                 AS caller
             RETURNING user_id, administrator_id, address"
        )
    };
}

sql! {
    INSERT_SQLITE = insert!("");
    // Waits for a transaction that deletes the account, which otherwise might not see the new event. Other changes of
    // users do not conflict with this lock.
    INSERT_POSTGRES = insert!(" FOR KEY SHARE");
    PRUNE = delete_expired!("security_events", "id", "at");
}

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
    /// A user allowed or denied a client's request.
    Consent,
    /// A consent was revoked, by its user or by an administrator.
    ConsentRevoked,
    /// An authorization code was used a second time, in an otherwise valid request.
    CodeReuse,
    /// A refresh token was used a second time.
    RefreshReuse,
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
            Self::KeysResealed => "keys_resealed",
            Self::AuthorizationFail => "authz_fail",
            Self::CsrfFail => "malicious_csrf",
            Self::IdempotencyConflict => "idempotency_conflict",
        }
    }

    /// Returns whether anybody can cause such an event in any number, without credentials.
    const fn needs_no_credentials(self) -> bool {
        matches!(self, Self::LoginFail | Self::CsrfFail)
    }

    /// Returns the alert that a single event of this name raises, if any.
    const fn alert(self) -> Option<AlertKind> {
        match self {
            Self::CodeReuse => Some(AlertKind::CodeReuse),
            Self::RefreshReuse => Some(AlertKind::RefreshReuse),
            Self::KeyCompromised => Some(AlertKind::KeyCompromised),
            Self::MfaLock => Some(AlertKind::CodeGuesses),
            _ => None,
        }
    }
}

/// An event to record, built from [`success`](Event::success) or [`failure`](Event::failure).
#[derive(Clone, Debug)]
pub struct Event {
    name: EventName,
    outcome: &'static str,
    user_id: Option<i64>,
    client_id: Option<String>,
    detail: Option<String>,
    /// The number of events of which this is the last.
    count: i64,
}

/// The columns of a stored event that identify persons. They are NULL for deleted accounts.
#[derive(Debug, sqlx::FromRow)]
struct NamedPersons {
    user_id: Option<i64>,
    administrator_id: Option<i64>,
    address: Option<String>,
}

impl Event {
    /// Creates an event with the outcome `success`.
    pub fn success(name: EventName) -> Self {
        Self {
            name,
            outcome: "success",
            user_id: None,
            client_id: None,
            detail: None,
            count: 1,
        }
    }

    /// Creates an event with the outcome `failure`.
    pub fn failure(name: EventName) -> Self {
        Self {
            outcome: "failure",
            ..Self::success(name)
        }
    }

    /// Returns the name.
    pub const fn name(&self) -> EventName {
        self.name
    }

    /// Sets the user that the event concerns.
    #[must_use]
    pub fn user(mut self, id: impl Into<Option<i64>>) -> Self {
        self.user_id = id.into();
        self
    }

    /// Sets the client that the event concerns.
    #[must_use]
    pub fn client(mut self, id: &str) -> Self {
        self.client_id = Some(id.to_owned());
        self
    }

    /// Sets the detail, which must not contain a secret.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Writes the event, and the alert it raises, in the caller's transaction. The event is logged after the commit. It
    /// names no deleted account, and has no address if such an account made the request.
    pub async fn record(mut self, tx: &mut Tx, context: &RequestContext) -> Result<(), Error> {
        let address = context.address.map(|address| address.to_string());
        let insert = tx.on().choose(INSERT_SQLITE, INSERT_POSTGRES);
        let named = fetch_one!(
            tx.on(),
            NamedPersons,
            insert,
            context.now,
            self.name.as_str(),
            self.outcome,
            self.user_id,
            self.client_id.as_deref(),
            address.as_deref(),
            context.address.map(network::of_address),
            context.trace_id.as_str(),
            self.detail.as_deref(),
            context.administrator.map(|administrator| administrator.user_id),
            self.count,
        )?;
        self.user_id = named.user_id;
        if let Some(kind) = self.name.alert() {
            let subject = AlertSubject {
                user_id: self.user_id,
                client_id: self.client_id.as_deref(),
                detail: self.detail.as_deref(),
            };
            alerts::raise(tx, kind, subject, context).await?;
        }
        let trace_id = context.trace_id.clone();
        tx.after_commit(move || self.log(&named, &trace_id));
        Ok(())
    }

    /// Logs the committed event.
    fn log(&self, named: &NamedPersons, trace_id: &str) {
        tracing::info!(
            target: log::SECURITY,
            event = self.name.as_str(),
            outcome = self.outcome,
            user_id = self.user_id,
            client_id = self.client_id,
            administrator_id = named.administrator_id,
            address = named.address,
            trace_id,
            detail = self.detail,
            count = (self.count > 1).then_some(self.count),
        );
    }

    /// Writes the event in a transaction of its own, for events without another write to the database.
    pub async fn record_alone(self, db: &Db, context: &RequestContext) -> Result<(), Error> {
        let mut tx = db.begin().await?;
        self.record(&mut tx, context).await?;
        tx.commit().await
    }
}

/// Deletes the events that are older than `retention`, and returns their number.
pub async fn prune(db: &Db, retention: Duration, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(retention)).await
}
