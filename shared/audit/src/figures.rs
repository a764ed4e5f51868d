//! The figures of the whole installation: what its processes counted, in one row for each minute. A process
//! counts in memory ([`COUNTERS`]) and adds its counts to the row of a minute that has ended, so that every
//! process can show the figures of all.

mod counters;
mod counts;
pub mod live_tokens;
mod window;

pub use counters::{COUNTERS, Counters};
pub use counts::{Counts, Figure, Timing};
pub use window::{Window, WindowQuery};

use counts::COLUMNS;
use foundation::clock::Timestamp;
use sqlx::{AssertSqlSafe, ColumnIndex, Decode, FromRow, Row, Type};
use std::time::Duration;
use storage::db::{Db, Error, Value};
use storage::{delete_expired, fetch_all, fetch_all_with, sql};

sql! {
    PRUNE = delete_expired!("figures", "at");
}

/// The time for which the rows are kept: a day longer than the longest window.
const RETENTION: Duration = Duration::from_secs(8 * 24 * 3600);
/// The microseconds of a minute.
const MINUTE: i64 = 60_000_000;

/// The counts of the periods of a window.
#[derive(Debug)]
pub struct Series {
    /// The begin of the first period.
    pub begin: Timestamp,
    /// The counts of each period, the oldest first.
    pub periods: Vec<Counts>,
}

/// The counts of a period in the database.
struct Period {
    /// The number of the period in its window, from 0.
    number: i64,
    counts: Counts,
}

/// Reads the columns by position, because the sums have no names.
impl<'r, R: Row> FromRow<'r, R> for Period
where
    usize: ColumnIndex<R>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get(0)?,
            counts: Counts::read(|column| row.try_get(column + 1))?,
        })
    }
}

/// Returns the counts of all processes in the minutes of this window that have ended. Fails if the database
/// does.
pub async fn read(db: &Db, window: Window, now: Timestamp) -> Result<Series, Error> {
    let (step, count) = (window.step(), window.periods());
    let end = begin_of_minute(now);
    let begin = end.before(step * u32::from(count));
    let step = i64::try_from(step.as_micros()).unwrap_or(i64::MAX);
    let sql = AssertSqlSafe(read_statement());
    let found = fetch_all!(db.reader(), Period, sql, begin, end, step)?;
    let mut periods = vec![Counts::default(); usize::from(count)];
    for period in found {
        let number = usize::try_from(period.number).ok();
        if let Some(counts) = number.and_then(|number| periods.get_mut(number)) {
            *counts = period.counts;
        }
    }
    Ok(Series { begin, periods })
}

/// Adds the counts of a process to the row of the minute that begins at `minute`.
async fn add(db: &Db, minute: Timestamp, counts: &Counts) -> Result<(), Error> {
    let values = [minute.micros()].into_iter().chain(counts.for_database());
    let values = values.map(Value::from);
    let sql = AssertSqlSafe(add_statement());
    fetch_all_with!(db.writer(), (Timestamp,), sql, values).map(|_| ())
}

/// Deletes the rows that are older than eight days, and returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now.before(RETENTION)).await
}

/// Returns the minute to which a time belongs, as the time of its begin.
fn begin_of_minute(time: Timestamp) -> Timestamp {
    let micros = time.micros();
    Timestamp::from_micros(micros - micros.rem_euclid(MINUTE))
}

/// Returns the text of the statement that adds counts to a row. Its parameters are the time of the row, and a
/// count for each column.
fn add_statement() -> String {
    let columns = COLUMNS.join(", ");
    let parameters = (2..).take(COLUMNS.len()).map(|n: u32| format!("${n}"));
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let sums = COLUMNS.map(|column| format!("{column} = figures.{column} + excluded.{column}"));
    let sums = sums.join(", ");
    format!(
        "INSERT INTO figures (at, {columns}) VALUES ($1, {parameters})
         ON CONFLICT (at) DO UPDATE SET {sums} RETURNING at"
    )
}

/// Returns the text of the statement that adds up the rows from the time `$1` until `$2` by periods of `$3`
/// microseconds, which are numbered from 0.
fn read_statement() -> String {
    let sums = COLUMNS.map(|column| format!("CAST(SUM({column}) AS BIGINT)"));
    let sums = sums.join(", ");
    format!("SELECT (at - $1) / $3 AS number, {sums} FROM figures WHERE at >= $1 AND at < $2 GROUP BY number")
}

/// Returns the names and texts of the statements whose text is made of the columns.
pub(crate) fn statements() -> [(String, String); 2] {
    [
        (concat!(module_path!(), "::ADD").to_owned(), add_statement()),
        (concat!(module_path!(), "::READ").to_owned(), read_statement()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn database(directory: &tempfile::TempDir) -> Db {
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        db.migrate().await.unwrap();
        db
    }

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_micros(minutes * MINUTE)
    }

    fn sign_ins(count: u64) -> Counts {
        let counters = Counters::new();
        counters.count(Figure::SignIns, count);
        counters.take()
    }

    #[tokio::test]
    async fn the_counts_of_processes_are_added_up_by_period() {
        let directory = tempfile::tempdir().unwrap();
        let db = database(&directory).await;
        for (minute, count) in [(1_000, 1), (1_000, 2), (1_009, 4), (1_010, 8), (1_440, 16)] {
            add(&db, at(minute), &sign_ins(count)).await.unwrap();
        }
        let read = async |window: Window, now: i64| {
            let series = read(&db, window, at(now)).await.unwrap();
            let counts = series
                .periods
                .iter()
                .map(|counts| counts.of(Figure::SignIns))
                .enumerate()
                .filter(|(_, count)| *count > 0);
            (series.begin, counts.collect::<Vec<_>>())
        };
        assert_eq!(
            read(Window::Day, 2_440).await,
            (at(1_000), vec![(0, 7), (1, 8), (44, 16)])
        );
        assert_eq!(
            read(Window::Hour, 1_060).await,
            (at(1_000), vec![(0, 3), (9, 4), (10, 8)])
        );
        // The present minute has not ended.
        assert_eq!(read(Window::Hour, 1_440).await, (at(1_380), Vec::new()));
        let later = at(1_000).after(RETENTION);
        assert_eq!(prune(&db, later).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn the_tokens_of_a_key_are_counted_until_they_expire() {
        let directory = tempfile::tempdir().unwrap();
        let db = database(&directory).await;
        for issued in [&["a", "b", "a"][..], &["b"], &[]] {
            let counters = Counters::new();
            for kid in issued {
                counters.issue(kid, at(1_000));
            }
            counters.issue("a", at(1_001));
            counters.finish(&db).await;
        }
        let read = async |minute: i64| {
            let counts = live_tokens::read(&db, at(minute)).await.unwrap();
            ["a", "b"].map(|kid| counts.get(kid).copied())
        };
        assert_eq!(read(1_000).await, [Some(5), Some(2)]);
        assert_eq!(read(1_001).await, [Some(3), None]);
        assert_eq!(read(1_002).await, [None, None]);
        assert_eq!(live_tokens::prune(&db, at(1_001)).await.unwrap(), 2);
    }
}
