//! Detection of suspicious patterns of security events, and the log lines of all alerts.
//!
//! Each scan overlaps the previous one by the longest time a request may take to commit, so it also finds
//! events that were committed late. The unique index on alerts lets only one replica raise each alert. A
//! pattern raises no alert within 15 minutes after the previous one of the same kind and subject.

use crate::alerts::{Alert, AlertKind, DEDUPLICATION_PERIOD};
use foundation::clock::{self, Timestamp};
use foundation::log;
use std::time::Duration;
use storage::db::{Db, Error, Version, Watch};
use storage::{execute, fetch_optional, sql};

sql! {
    // Finds the first lockout with at least $6 lockouts, itself included, in the window $2 that ends with it.
    // `OFFSET` finds the $6th without counting the others.
    RAISE_LOCKOUT_BURST = "INSERT INTO alerts (at, kind, subject, period, trace_id, detail, attempts, due_at)
        SELECT e.at, $1, '', e.at / $3, e.trace_id, $7, 0, $4
        FROM security_events e
        WHERE e.id = (SELECT MIN(n.id) FROM security_events n
            WHERE n.name = 'authn_login_lock' AND n.at > $5
              AND EXISTS (SELECT 1 FROM security_events p
                  WHERE p.name = n.name AND p.at > n.at - $2 AND p.at <= n.at LIMIT 1 OFFSET $6 - 1)
              AND NOT EXISTS (SELECT 1 FROM alerts a
                  WHERE a.kind = $1 AND a.subject = '' AND a.at > n.at - $3))
        ON CONFLICT (kind, subject, period) DO NOTHING";
    // Checks each user once, at the latest sign-in attempt, so that the cost is linear in the number of
    // attempts.
    RAISE_MANY_NETWORKS = "INSERT INTO alerts (at, kind, subject, period, user_id, trace_id, detail, attempts, due_at)
        SELECT e.at, $1, CAST(e.user_id AS TEXT), e.at / $3, e.user_id, e.trace_id, $7, 0, $4
        FROM security_events e
        WHERE e.id IN (SELECT MAX(n.id) FROM security_events n
            WHERE n.name IN ('authn_login_success', 'authn_login_fail') AND n.at > $5 AND n.user_id IS NOT NULL
            GROUP BY n.user_id)
          AND NOT EXISTS (SELECT 1 FROM alerts a
              WHERE a.kind = $1 AND a.subject = CAST(e.user_id AS TEXT) AND a.at > e.at - $3)
          AND (SELECT COUNT(DISTINCT p.network) FROM security_events p
              WHERE p.user_id = e.user_id AND p.at > e.at - $2
                AND p.name IN ('authn_login_success', 'authn_login_fail')) >= $6
        ON CONFLICT (kind, subject, period) DO NOTHING";
    CLAIM_UNLOGGED = "UPDATE alerts SET logged_at = $1
           WHERE id = (SELECT MIN(id) FROM alerts WHERE logged_at IS NULL) AND logged_at IS NULL
           RETURNING id, at, kind, user_id, client_id, trace_id, detail";
}

/// The time between two scans.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between an event and its commit, if [`EventRecorder`](crate::events::EventRecorder)
/// counts it: to the end of the minute, and a margin.
const COUNTING_DELAY: Duration = Duration::from_secs(65);
/// The greatest age of an event at its commit: requests are canceled after 30 s, refused ones may be counted,
/// and the rest is a margin.
const COMMIT_DELAY: Duration = Duration::from_secs(35 + COUNTING_DELAY.as_secs());
/// The time that the first scan of a process looks back, in case no process was running before.
const FIRST_LOOKBACK: Duration = Duration::from_secs(3600);

/// A number of events within a time window that raises an alert.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    kind: AlertKind,
    statement: &'static str,
    threshold: i64,
    window: Duration,
    detail: &'static str,
}

const PATTERNS: [Pattern; 2] = [
    Pattern {
        kind: AlertKind::LockoutBurst,
        statement: RAISE_LOCKOUT_BURST,
        threshold: 5,
        window: Duration::from_secs(5 * 60),
        detail: "at least 5 lockouts within 5 minutes, over all accounts",
    },
    Pattern {
        kind: AlertKind::ManyNetworks,
        statement: RAISE_MANY_NETWORKS,
        threshold: 5,
        window: Duration::from_secs(15 * 60),
        detail: "sign-ins from at least 5 networks within 15 minutes",
    },
];

/// Scans for patterns and logs alerts until the task is aborted.
pub async fn follow(db: Db) {
    let mut watch = db.watch();
    let (mut seen, mut since) = (None, clock::now().before(FIRST_LOOKBACK));
    loop {
        match scan(&db, &mut watch, &mut seen, since).await {
            Ok(next) => since = next,
            Err(error) => tracing::warn!(%error, "cannot scan the security events for alerts"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Scans the events after `since` and logs new alerts. Does nothing if the database still has the version
/// `seen`; otherwise updates `seen`. Returns the `since` of the next scan.
async fn scan(
    db: &Db,
    watch: &mut Watch,
    seen: &mut Option<Version>,
    since: Timestamp,
) -> Result<Timestamp, Error> {
    // Read before the scan, so that a commit during the scan causes another one.
    let version = watch.version().await?;
    let now = clock::now();
    if version.is_some() && version == *seen {
        return Ok(since.max(now.before(COMMIT_DELAY)));
    }
    for pattern in PATTERNS {
        raise_matching(db, pattern, since, now).await?;
    }
    while log_next(db, now).await? {}
    *seen = version;
    Ok(now.before(COMMIT_DELAY))
}

/// Raises the alerts of one pattern for the events after `since`.
async fn raise_matching(db: &Db, pattern: Pattern, since: Timestamp, now: Timestamp) -> Result<(), Error> {
    let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    execute!(
        db.writer(),
        pattern.statement,
        pattern.kind.as_str(),
        micros(pattern.window),
        micros(DEDUPLICATION_PERIOD),
        now,
        since,
        pattern.threshold,
        pattern.detail,
    )
    .map(|_| ())
}

/// Logs the oldest alert that was not logged yet. Returns whether there was one. The line is written before
/// the commit: a crash in between logs the alert twice, but never loses it.
async fn log_next(db: &Db, now: Timestamp) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    let Some(alert) = fetch_optional!(tx.on(), Alert, CLAIM_UNLOGGED, now)? else {
        return Ok(false);
    };
    tracing::error!(
        target: log::ALERT,
        kind = alert.kind,
        user_id = alert.user_id,
        client_id = alert.client_id,
        traceId = alert.trace_id,
        detail = alert.detail,
        alert_id = alert.public_id(),
    );
    tx.commit().await?;
    Ok(true)
}
