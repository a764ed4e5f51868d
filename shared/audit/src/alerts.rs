//! Alerts: conditions that an operator must look at. An alert is a row that is committed with its cause or
//! derived from committed events, so none is lost. The issuer logs and counts each alert at least once
//! ([`detection`]) and, if a webhook is configured, tries to deliver it for three days ([`webhook`]).

pub mod detection;
pub mod webhook;

use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::names;
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, sql};

sql! {
    RAISE = "INSERT INTO alerts (at, kind, subject, period, user_id, client_id, trace_id, detail, attempts, due_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $1)
             ON CONFLICT (kind, subject, period) DO NOTHING";
    // The subject of a user's alert begins with the user's id, which the pseudonym replaces.
    REPLACE_USER = "
        UPDATE alerts
        SET user_id = $2, subject = CAST(CAST($2 AS BIGINT) AS TEXT)
                                    || substr(subject, length(CAST(CAST($1 AS BIGINT) AS TEXT)) + 1)
        WHERE user_id = $1";
    PRUNE = delete_expired!("alerts", "at");
}

/// Duplicate alerts are suppressed within fixed 15-minute windows, counted from 1970 UTC.
const DEDUPLICATION_PERIOD: Duration = Duration::from_secs(15 * 60);

/// The kind of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertKind {
    /// A refresh token was used a second time, so it may have been stolen (RFC 9700 §4.14.2).
    RefreshReuse,
    /// An authorization code was used a second time, so it may have been stolen (RFC 6749 §10.5).
    CodeReuse,
    /// A signing key was removed because it may be compromised.
    KeyCompromised,
    /// Many wrong codes of two-step sign-in for one account: somebody else may know its password.
    CodeGuesses,
    /// Many lockouts in a short time over all accounts: an attacker may be trying many of them.
    LockoutBurst,
    /// Sign-in attempts at one account from many networks: its password may be shared or be under attack.
    ManyNetworks,
}

// The names in the database, logs, metrics and webhook requests.
names! {
    AlertKind:
    RefreshReuse = "refresh_token_reuse",
    CodeReuse = "code_reuse",
    KeyCompromised = "key_compromised",
    CodeGuesses = "code_guesses",
    LockoutBurst = "lockout_burst",
    ManyNetworks = "account_from_many_addresses",
}

/// A stored alert, as it is logged and delivered.
#[derive(Clone, Debug, sqlx::FromRow)]
struct Alert {
    id: i64,
    at: Timestamp,
    kind: String,
    user_id: Option<i64>,
    client_id: Option<String>,
    trace_id: String,
    detail: Option<String>,
}

impl Alert {
    /// Returns the id in logs and webhook requests, which is the same at every delivery attempt.
    fn public_id(&self) -> String {
        format!("alert_{}_{}", self.at.micros(), self.id)
    }
}

/// Raises an alert in the transaction of its cause. Its subject is the user and the client that it is about,
/// and a detail, each if known. It is not raised if an alert of the same kind and subject exists in the
/// current period ([`DEDUPLICATION_PERIOD`]).
pub(crate) async fn raise(
    tx: &mut Tx,
    kind: AlertKind,
    user_id: Option<i64>,
    client_id: Option<&str>,
    detail: Option<&str>,
    context: &RequestContext,
) -> Result<(), Error> {
    let user = user_id.map(|id| id.to_string()).unwrap_or_default();
    let (client, about) = (client_id.unwrap_or_default(), detail.unwrap_or_default());
    execute!(
        tx.on(),
        RAISE,
        context.now,
        kind.as_str(),
        format!("{user}/{client}/{about}"),
        context.now.seconds() / DEDUPLICATION_PERIOD.as_secs().cast_signed(),
        user_id,
        client_id,
        context.trace_id.as_str(),
        detail,
    )
    .map(|_| ())
}

/// Replaces the user's id by `pseudonym` in all alerts.
pub(crate) async fn replace_user(tx: &mut Tx, user_id: i64, pseudonym: i64) -> Result<(), Error> {
    execute!(tx.on(), REPLACE_USER, user_id, pseudonym).map(|_| ())
}

/// Deletes the alerts that are older than `retention`, and returns their number.
pub async fn prune(db: &Db, retention: Duration, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(retention)).await
}
