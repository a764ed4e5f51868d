//! Alerts: what somebody must look at. Each is a row that is committed with its cause or derived from committed
//! causes, so none is lost; the issuer says each once in the log, counts it, and tells the webhook until that
//! has it.

pub mod detection;
pub mod webhook;

use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{execute, sql};

sql! {
    RAISE = "INSERT INTO alerts (at, kind, subject, period, user_id, client_id, trace_id, detail, attempts, due_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $1)
             ON CONFLICT (kind, subject, period) DO NOTHING";
    PRUNE = "DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE at <= $1 ORDER BY at LIMIT 500)";
}

/// Of one kind about one subject, one alert is raised in this time.
const PERIOD: Duration = Duration::from_secs(15 * 60);

/// What is abnormal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertKind {
    /// A used refresh token came again: somebody has a copy (RFC 9700 §4.14.2).
    RefreshReuse,
    /// A used authorization code came again: somebody has a copy (RFC 6749 §10.5).
    CodeReuse,
    /// A signing key was thrown away because somebody else may have it.
    KeyCompromised,
    /// Many lockouts in a short time, whoever was locked out: somebody tries many accounts.
    LockoutBurst,
    /// One account is being signed in to from many networks: its password is shared, or being guessed.
    ManyAddresses,
}

impl AlertKind {
    /// As stored, logged, counted and sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RefreshReuse => "refresh_token_reuse",
            Self::CodeReuse => "code_reuse",
            Self::KeyCompromised => "key_compromised",
            Self::LockoutBurst => "lockout_burst",
            Self::ManyAddresses => "account_from_many_addresses",
        }
    }
}

/// What an alert is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) user_id: Option<i64>,
    pub(crate) client_id: Option<&'a str>,
    pub(crate) detail: Option<&'a str>,
}

impl About<'_> {
    /// What makes two alerts of one kind the same.
    fn subject(&self) -> String {
        let user_id = self.user_id.map(|id| id.to_string()).unwrap_or_default();
        let (client_id, detail) = (
            self.client_id.unwrap_or_default(),
            self.detail.unwrap_or_default(),
        );
        format!("{user_id}/{client_id}/{detail}")
    }
}

/// Raises an alert in the transaction of its cause, unless the period has one of the same subject.
pub(crate) async fn raise(
    tx: &mut Tx,
    kind: AlertKind,
    about: &About<'_>,
    context: &RequestContext,
) -> Result<(), Error> {
    execute!(
        tx.on(),
        RAISE,
        context.now,
        kind.as_str(),
        about.subject(),
        context.now.seconds() / PERIOD.as_secs().cast_signed(),
        about.user_id,
        about.client_id,
        context.trace_id.as_str(),
        about.detail,
    )
    .map(|_| ())
}

/// Deletes alerts that are older than events are kept.
pub async fn prune(db: &Db, kept: Duration, now: Timestamp) -> Result<(), Error> {
    execute!(db.writer(), PRUNE, now.before(kept)).map(|_| ())
}
