//! The numbers of access tokens that have not expired, for each signing key. Nothing stores the tokens: each
//! process counts those that it issues by the minute in which they expire, and writes the counts with its
//! figures.

use super::{MINUTE, begin_of_minute};
use foundation::clock::{self, Timestamp};
use foundation::sync::lock;
use std::collections::HashMap;
use std::sync::Mutex;
use storage::db::{Array, Db, Error};
use storage::{delete_expired, execute, fetch_all, sql};

sql! {
    ADD_SQLITE = "INSERT INTO live_tokens (expires_at, kid, tokens)
                  SELECT ends.value, kids.value, counts.value FROM json_each($1) AS ends
                  JOIN json_each($2) AS kids ON kids.key = ends.key JOIN json_each($3) AS counts ON counts.key = ends.key
                  WHERE TRUE
                  ON CONFLICT (expires_at, kid) DO UPDATE SET tokens = live_tokens.tokens + excluded.tokens";
    // Locks the rows in their order, so that concurrent processes do not deadlock.
    ADD_POSTGRES = "INSERT INTO live_tokens (expires_at, kid, tokens)
                    SELECT * FROM unnest($1::BIGINT[], $2::TEXT[], $3::BIGINT[]) AS issued (expires_at, kid, tokens)
                    ORDER BY expires_at, kid
                    ON CONFLICT (expires_at, kid) DO UPDATE SET tokens = live_tokens.tokens + excluded.tokens";
    COUNT = "SELECT kid, CAST(SUM(tokens) AS BIGINT) FROM live_tokens WHERE expires_at > $1 GROUP BY kid";
    PRUNE = delete_expired!("live_tokens", "expires_at");
}

/// Tokens of one key that expire within the same minute.
#[derive(Debug)]
struct IssuedTokens {
    /// The end of the minute.
    expires_at: Timestamp,
    kid: String,
    tokens: i64,
}

/// The tokens that this process has issued since it last wrote their numbers.
#[derive(Debug)]
pub(super) struct Unwritten(Mutex<Vec<IssuedTokens>>);

impl Unwritten {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Counts a token of a key.
    pub(super) fn count(&self, kid: &str, expires_at: Timestamp) {
        self.add(kid, end_of_minute(expires_at), 1);
    }

    fn add(&self, kid: &str, expires_at: Timestamp, tokens: i64) {
        let mut unwritten = lock(&self.0);
        let mut known = unwritten.iter_mut();
        match known.find(|issued| issued.expires_at == expires_at && issued.kid == kid) {
            Some(issued) => issued.tokens += tokens,
            None => unwritten.push(IssuedTokens {
                expires_at,
                kid: kid.to_owned(),
                tokens,
            }),
        }
    }

    /// Adds the counts to the rows, by one statement, unless nothing was counted. If that fails, those of
    /// tokens that have not expired are kept for the next time.
    pub(super) async fn write(&self, db: &Db) {
        let issued = std::mem::take(&mut *lock(&self.0));
        if issued.is_empty() {
            return;
        }
        let sql = db.writer().choose(ADD_SQLITE, ADD_POSTGRES);
        let added = execute!(
            db.writer(),
            sql,
            Array::of(&issued, |issued| issued.expires_at.micros()),
            Array::of(&issued, |issued| issued.kid.as_str()),
            Array::of(&issued, |issued| issued.tokens)
        );
        if let Err(error) = added {
            tracing::warn!(%error, "cannot store the numbers of issued tokens");
            let now = clock::now();
            for issued in issued.iter().filter(|issued| issued.expires_at > now) {
                self.add(&issued.kid, issued.expires_at, issued.tokens);
            }
        }
    }
}

/// Returns the number of live tokens of each key that has any, by its `kid`, as of the end of the last
/// minute: tokens that were issued since are missing, and revoked ones and those that expired since are
/// included.
pub async fn read(db: &Db, now: Timestamp) -> Result<HashMap<String, u64>, Error> {
    let rows = fetch_all!(db.reader(), (String, i64), COUNT, now)?;
    let counts = rows.into_iter();
    Ok(counts
        .map(|(kid, tokens)| (kid, u64::try_from(tokens).unwrap_or_default()))
        .collect())
}

/// Deletes the counts of expired tokens.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}

fn end_of_minute(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(begin_of_minute(time).micros() + MINUTE)
}
