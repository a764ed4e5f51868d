//! Finding what only several events together show, and saying alerts in the log.
//!
//! Committed rows alone are looked at, those that a request took long to write too, and the unique index lets one
//! replica raise an alert: so whatever the order of commits, each burst is found, and once.

use crate::alerts::AlertKind;
use foundation::clock;
use foundation::clock::Timestamp;
use foundation::log;
use std::time::Duration;
use storage::db::{Db, Error, Watch};
use storage::{execute, fetch_optional, sql};

sql! {
    // The event is the last of $6 within the length before it. `OFFSET` counts no further than need be.
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
    // One look at each user, at their latest sign-in: however many there are, it costs as much as there are rows.
    RAISE_MANY_ADDRESSES = "INSERT INTO alerts (at, kind, subject, period, user_id, trace_id, detail, attempts, due_at)
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
    SAY = "UPDATE alerts SET said_at = $1
           WHERE id = (SELECT MIN(id) FROM alerts WHERE said_at IS NULL) AND said_at IS NULL
           RETURNING id, at, kind, user_id, client_id, trace_id, detail";
}

/// How often is looked.
const POLL: Duration = Duration::from_secs(1);
/// A request may be that old when its event is committed (it is cut at 30 s).
const LATE: Duration = Duration::from_secs(35);
/// How far back the first look of a process goes: nobody may have looked meanwhile.
const FIRST: Duration = Duration::from_secs(3600);

/// So many events within a length of time are abnormal.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    kind: AlertKind,
    statement: &'static str,
    many: i64,
    within: Duration,
    detail: &'static str,
}

const PATTERNS: [Pattern; 2] = [
    Pattern {
        kind: AlertKind::LockoutBurst,
        statement: RAISE_LOCKOUT_BURST,
        many: 5,
        within: Duration::from_secs(5 * 60),
        detail: "5 lockouts or more within 5 minutes, over all accounts",
    },
    Pattern {
        kind: AlertKind::ManyAddresses,
        statement: RAISE_MANY_ADDRESSES,
        many: 5,
        within: Duration::from_secs(15 * 60),
        detail: "sign-ins from 5 networks or more within 15 minutes",
    },
];

/// An alert, as it is said and sent.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Alert {
    pub(super) id: i64,
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) user_id: Option<i64>,
    pub(super) client_id: Option<String>,
    pub(super) trace_id: String,
    pub(super) detail: Option<String>,
}

impl Alert {
    /// Names the alert to whom it is sent: the same at every attempt.
    pub(super) fn webhook_id(&self) -> String {
        format!("alert_{}_{}", self.at.micros(), self.id)
    }
}

/// Looks for ever.
pub async fn follow(db: Db) {
    let mut watch = db.watch();
    let (mut seen, mut since) = (None, clock::now().before(FIRST));
    loop {
        match look(&db, &mut watch, &mut seen, since).await {
            Ok(until) => since = until,
            Err(error) => tracing::warn!(%error, "cannot look for what is abnormal"),
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Looks at what was written since, and gives from when on to look the next time.
async fn look(
    db: &Db,
    watch: &mut Watch,
    seen: &mut Option<storage::db::Version>,
    since: Timestamp,
) -> Result<Timestamp, Error> {
    // Taken before the look: what is committed during it is looked at the next time.
    let version = watch.version().await?;
    let now = clock::now();
    if version.is_some() && version == *seen {
        return Ok(since.max(now.before(LATE)));
    }
    for pattern in PATTERNS {
        find(db, pattern, since, now).await?;
    }
    while say_one(db, now).await? {}
    *seen = version;
    Ok(now.before(LATE))
}

async fn find(db: &Db, pattern: Pattern, since: Timestamp, now: Timestamp) -> Result<(), Error> {
    let micros = |length: Duration| i64::try_from(length.as_micros()).unwrap_or(i64::MAX);
    execute!(
        db.writer(),
        pattern.statement,
        pattern.kind.as_str(),
        micros(pattern.within),
        micros(super::PERIOD),
        now,
        since,
        pattern.many,
        pattern.detail,
    )
    .map(|_| ())
}

/// Says the oldest unsaid alert, and gives whether there was one. The line is written before the commit: a crash
/// between the two says it twice, and never not at all.
async fn say_one(db: &Db, now: Timestamp) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    let Some(alert) = fetch_optional!(tx.on(), Alert, SAY, now)? else {
        return Ok(false);
    };
    tracing::error!(
        target: log::ALERT,
        kind = alert.kind,
        user_id = alert.user_id,
        client_id = alert.client_id,
        trace_id = alert.trace_id,
        detail = alert.detail,
        alert_id = alert.webhook_id(),
    );
    tx.commit().await?;
    Ok(true)
}
