//! The part of a list of security events that one statement reads.

use super::{Filter, KEY, SecurityEvent, columns};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::list_query::Order;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::fetch_all_with;
use storage::paging::{MAX_SEARCHED, PageSlice};

/// A part of a list, with its conditions.
pub(super) struct Part {
    /// The conditions on columns. An index has the events that fit the first.
    conditions: Vec<(&'static str, Value)>,
    slice: PageSlice,
    after: Option<Cursor>,
    /// The end: in ascending order without the events of this time, in descending order with them.
    end: Option<Timestamp>,
}

impl Part {
    /// Returns this slice of the events that fit the filter.
    pub(super) fn new(filter: &Filter, slice: PageSlice, after: Option<Cursor>) -> Self {
        let (begin, end) = match slice.order() {
            Order::Ascending => (filter.since, filter.until),
            Order::Descending => (filter.until, filter.since),
        };
        let after = match (after, begin.map(begin_of)) {
            (Some(after), Some(begin)) => Some(later(slice.order(), after, begin)),
            (after, begin) => after.or(begin),
        };
        Self {
            conditions: filter.conditions(),
            slice: after.map_or(slice, |_| slice.anchored()),
            after,
            end,
        }
    }

    /// Ends a part with several conditions where one of them has selected many events: no index has those
    /// that fit all. The condition that leads furthest comes first. Returns the part, and the position at
    /// which the list goes on if the part now ends before it.
    pub(super) async fn bounded(mut self, db: &Db) -> Result<(Self, Option<Cursor>), Error> {
        if self.conditions.len() < 2 {
            return Ok((self, None));
        }
        let sql = AssertSqlSafe(search_sql(&self.columns(), self.slice));
        let values = self.conditions.iter().map(|(_, value)| value.clone());
        let values = self.anchor().into_iter().flatten().chain(values);
        let ends = fetch_all_with!(db.reader(), (i64, Option<Timestamp>), sql, values)?;
        let order = self.slice.order();
        let reach = |end: Option<Timestamp>| match (end, order) {
            (None, _) => i64::MAX,
            (Some(end), Order::Ascending) => end.micros(),
            (Some(end), Order::Descending) => -end.micros(),
        };
        let furthest = ends.into_iter().max_by_key(|(n, end)| (reach(*end), -n));
        let Some((n, end)) = furthest else {
            return Ok((self, None));
        };
        self.conditions.swap(0, usize::try_from(n).unwrap_or_default());
        // An end at the anchor would make no progress.
        let end = end.filter(|end| self.after.is_none_or(|after| after.created_at != *end));
        let end = end.filter(|end| match (self.end, order) {
            (None, _) => true,
            (Some(own), Order::Ascending) => *end < own,
            (Some(own), Order::Descending) => *end > own,
        });
        self.end = end.or(self.end);
        Ok((self, end.map(begin_of)))
    }

    /// Reads the events.
    pub(super) async fn fetch(self, db: &Db) -> Result<Vec<SecurityEvent>, Error> {
        let sql = AssertSqlSafe(sql(&self.columns(), self.end.is_some(), self.slice));
        let values = self.anchor().into_iter().flatten();
        let values = values.chain(self.conditions.into_iter().map(|(_, value)| value));
        let values = values.chain(self.end.map(Value::from));
        fetch_all_with!(db.reader(), SecurityEvent, sql, values)
    }

    fn columns(&self) -> Vec<&'static str> {
        self.conditions.iter().map(|(column, _)| *column).collect()
    }

    fn anchor(&self) -> Option<[Value; 2]> {
        self.after
            .map(|Cursor { created_at, id }| [created_at.into(), id.into()])
    }
}

/// Returns the position before all events of this time, of which it has the lowest of all ids: in ascending
/// order they come after it, and in descending order those of earlier times.
const fn begin_of(created_at: Timestamp) -> Cursor {
    Cursor {
        created_at,
        id: i64::MIN,
    }
}

/// Returns whichever of two positions comes later in a list in this order.
fn later(order: Order, one: Cursor, other: Cursor) -> Cursor {
    let position = |cursor: &Cursor| (cursor.created_at, cursor.id);
    match (order, position(&one) > position(&other)) {
        (Order::Ascending, true) | (Order::Descending, false) => one,
        (Order::Ascending, false) | (Order::Descending, true) => other,
    }
}

/// Returns the condition on the column whose index the statement uses, after ` AND`.
fn of_index(column: &str, value: &str) -> String {
    // The condition of the index, in which longer details are missing.
    let is_in_index = match column {
        "detail" => "length(detail) <= 500 AND ",
        _ => "",
    };
    format!(" AND {is_in_index}{column} = {value}")
}

/// Returns the text of the statement with conditions on these columns. Its parameters are the anchor, if
/// there is one, the values of the columns, and the end of the part, if it has one. Only the first column is
/// compared in a form that can use an index.
fn sql(columns: &[&str], has_end: bool, slice: PageSlice) -> String {
    let conditions = columns.iter().zip(1..).map(|(column, n)| {
        let value = slice.parameter(n);
        match n {
            1 => of_index(column, &value),
            _ => format!(" AND ({column} = {value}) IS TRUE"),
        }
    });
    let conditions: String = conditions.collect();
    let end = has_end.then(|| slice.parameter(columns.len() + 1));
    let (selected, page) = (columns!(), slice.clauses_until(end.as_deref()));
    format!("SELECT {selected} FROM security_events WHERE TRUE{conditions}{page}")
}

/// Returns the text of the statement that reads, for the condition on each of these columns, its number and
/// the time of the event after those that a page searches; null if there are not so many. Its parameters are
/// the anchor, if there is one, and the values of the columns.
fn search_sql(columns: &[&str], slice: PageSlice) -> String {
    let slice = slice.limited_to(1);
    let ends = columns.iter().zip(1..).map(|(column, n)| {
        let (condition, clauses) = (of_index(column, &slice.parameter(n)), slice.clauses());
        let end =
            format!("SELECT at FROM security_events WHERE TRUE{condition}{clauses} OFFSET {MAX_SEARCHED}");
        format!("SELECT CAST({} AS BIGINT), ({end})", n - 1)
    });
    ends.collect::<Vec<_>>().join(" UNION ALL ")
}

/// Returns the names and texts of the list statements with conditions on up to two columns, in either order,
/// and of those that end the search for two conditions. Those on further columns have more conditions like
/// that on the second.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let all = Filter::columns();
    let pairs = all.into_iter().enumerate().flat_map(move |(n, first)| {
        let others = all.into_iter().skip(n + 1);
        others.map(move |second| [first, second])
    });
    let of_pairs = pairs.flat_map(|[first, second]| {
        let both = [("", vec![first, second]), ("search ", vec![second, first])];
        let lists = both.into_iter().flat_map(|(name, columns)| lists(name, columns));
        let ends = PageSlice::all(KEY).map(|slice| {
            let name = format!("{}::search end {slice:?} {:?}", module_path!(), [first, second]);
            (name, search_sql(&[first, second], slice))
        });
        lists.chain(ends)
    });
    let others = [Vec::new()].into_iter().chain(all.map(|column| vec![column]));
    others.flat_map(|columns| lists("", columns)).chain(of_pairs)
}

/// Returns the names and texts of the list statements with conditions on these columns. The names begin with
/// this text.
fn lists(begin: &str, columns: Vec<&'static str>) -> impl Iterator<Item = (String, String)> + use<> {
    let begin = format!("{}::{begin}", module_path!());
    let slices = PageSlice::all(KEY).into_iter();
    slices.flat_map(move |slice| {
        [("", false), (" with an end", true)].map(|(end, has_end)| {
            let name = format!("{begin}{slice:?} {columns:?}{end}");
            (name, sql(&columns, has_end, slice))
        })
    })
}
