//! Queries for the recorded security events.

mod filter;
pub(crate) mod tail;

pub use filter::{Filter, ListQuery, Outcome};
pub use tail::{POLL_INTERVAL, Tail};

use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::list_query::Order;
use serde::Serialize;
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;
use storage::db::{Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting};
use storage::{fetch_all_with, has_cursor};
use utoipa::ToSchema;

/// The columns by which the lists are sorted.
const KEY: &[&str] = &["at", "id"];

/// The columns of [`SecurityEvent`].
macro_rules! columns {
    () => {
        "id, at, name, outcome, user_id, client_id, administrator_id, address, trace_id, detail, count"
    };
}
use columns;

/// A recorded security event.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct SecurityEvent {
    /// The event's id.
    pub id: i64,
    /// The time at which the request that caused the event arrived.
    pub at: Timestamp,
    /// The name of the event, from the OWASP logging vocabulary if it has a suitable one.
    pub name: String,
    /// `success` or `failure`.
    pub outcome: String,
    /// The user that the event concerns; for a deleted account a negative number, the same in all its events.
    #[schema(required)]
    pub user_id: Option<i64>,
    /// The client that the event concerns.
    #[schema(required)]
    pub client_id: Option<String>,
    /// The administrator whose request at `/admin/…` caused the event; for a deleted account a negative
    /// number.
    #[schema(required)]
    pub administrator_id: Option<i64>,
    /// The IP address of the caller; null for a command or a background task. For a deleted account a label
    /// of the network, such as `network 7`.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the response.
    #[serde(rename = "traceId")]
    pub trace_id: String,
    /// Further details.
    #[schema(required)]
    pub detail: Option<String>,
    /// The number of events: failed sign-ins and rejected CSRF tokens of one network and minute after the
    /// first one are one entry, with the time and the correlation id of the last.
    pub count: i64,
}

has_cursor!(SecurityEvent: at, id);

impl SecurityEvent {
    /// Returns the event as the user that it concerns may see it: without the address of an administrator.
    #[must_use]
    pub fn for_its_user(self) -> Self {
        Self {
            address: self.address.filter(|_| self.administrator_id.is_none()),
            ..self
        }
    }

    /// Returns the ids of the users that these events concern, and of the administrators who caused them,
    /// without the pseudonyms of deleted accounts.
    #[must_use]
    pub fn persons(events: &[Self]) -> Vec<i64> {
        let ids = events
            .iter()
            .flat_map(|event| [event.user_id, event.administrator_id]);
        let ids: BTreeSet<i64> = ids.flatten().filter(|id| *id > 0).collect();
        ids.into_iter().collect()
    }

    /// Returns the ids of the clients that these events concern.
    #[must_use]
    pub fn clients(events: &[Self]) -> Vec<&str> {
        let ids: BTreeSet<&str> = events
            .iter()
            .filter_map(|event| event.client_id.as_deref())
            .collect();
        ids.into_iter().collect()
    }
}

/// Returns the requested page of the events, the newest first by default.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<SecurityEvent>, Error> {
    let page = &query.page;
    let sorting = Sorting::by(KEY, query.order());
    paging::read_page(page.direction, sorting, page.cursor, |slice, after| {
        fetch(db, &query.filter, slice, after)
    })
    .await
}

/// Returns the first events that match `filter` in this order, at most `limit`.
pub async fn first(
    db: &Db,
    filter: &Filter,
    order: Order,
    limit: usize,
) -> Result<Vec<SecurityEvent>, Error> {
    let slice = PageSlice::of(Sorting::by(KEY, order), false);
    fetch(db, filter, slice.limited_to(limit), None).await
}

/// Returns up to `limit` events that match `filter`, newest first: those older than the position `before`, or
/// the newest of all if there is no position.
pub async fn newest(
    db: &Db,
    filter: &Filter,
    before: Option<Cursor>,
    limit: usize,
) -> Result<Vec<SecurityEvent>, Error> {
    let slice = PageSlice::of(Sorting::by(KEY, Order::Descending), before.is_some());
    fetch(db, filter, slice.limited_to(limit), before).await
}

async fn fetch(
    db: &Db,
    filter: &Filter,
    slice: PageSlice,
    after: Option<Cursor>,
) -> Result<Vec<SecurityEvent>, Error> {
    let (begin, end) = match slice.order() {
        Order::Ascending => (filter.since, filter.until),
        Order::Descending => (filter.until, filter.since),
    };
    // A list of a period begins after an event at its begin that has the lowest of all ids.
    let begin = begin.map(|created_at| Cursor {
        created_at,
        id: i64::MIN,
    });
    let after = match (after, begin) {
        (Some(after), Some(begin)) => Some(later(slice.order(), after, begin)),
        (after, begin) => after.or(begin),
    };
    let slice = after.map_or(slice, |_| slice.anchored());
    let conditions = filter.conditions();
    let conditioned: Vec<&str> = conditions.iter().map(|(column, _)| *column).collect();
    let anchor = after.map(|Cursor { created_at, id }| [created_at.into(), id.into()]);
    let values = conditions.into_iter().map(|(_, value)| value);
    let values = anchor.into_iter().flatten().chain(values);
    let values = values.chain(end.map(Value::from));
    let sql = AssertSqlSafe(sql(&conditioned, end.is_some(), slice));
    fetch_all_with!(db.reader(), SecurityEvent, sql, values)
}

/// Returns whichever of two positions comes later in a list in this order.
fn later(order: Order, one: Cursor, other: Cursor) -> Cursor {
    let position = |cursor: &Cursor| (cursor.created_at, cursor.id);
    match (order, position(&one) > position(&other)) {
        (Order::Ascending, true) | (Order::Descending, false) => one,
        (Order::Ascending, false) | (Order::Descending, true) => other,
    }
}

/// Returns the text of the statement with conditions on these columns. Its parameters are the anchor, if
/// there is one, the values of the columns, and the end of the period, if it has one. Only the first column,
/// whose value selects the fewest events, is compared in a form that can use an index.
fn sql(columns: &[&str], has_end: bool, slice: PageSlice) -> String {
    let conditions = columns.iter().zip(1..).map(|(column, n)| {
        let value = slice.parameter(n);
        // The condition of the index, in which longer details are missing.
        let of_index = match *column {
            "detail" => "length(detail) <= 500 AND ",
            _ => "",
        };
        match n {
            1 => format!(" AND {of_index}{column} = {value}"),
            _ => format!(" AND ({of_index}{column} = {value}) IS TRUE"),
        }
    });
    let conditions: String = conditions.collect();
    let end = has_end.then(|| slice.parameter(columns.len() + 1));
    let (selected, page) = (columns!(), slice.clauses_until(end.as_deref()));
    format!("SELECT {selected} FROM security_events WHERE TRUE{conditions}{page}")
}

/// Returns the names and texts of the list statements with conditions on up to two columns. Those on further
/// columns have more conditions like that on the second.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let all = Filter::columns();
    let columns = all.into_iter().enumerate().flat_map(move |(n, first)| {
        let pairs = all.into_iter().skip(n + 1).map(move |second| vec![first, second]);
        [vec![first]].into_iter().chain(pairs)
    });
    let columns = [Vec::new()].into_iter().chain(columns);
    let lists = columns.flat_map(|columns| {
        let slices = PageSlice::all(KEY).into_iter();
        slices.flat_map(move |slice| [false, true].map(|has_end| (columns.clone(), has_end, slice)))
    });
    lists.map(|(columns, has_end, slice)| {
        let end = if has_end { " with an end" } else { "" };
        (
            format!("{}::{slice:?} {columns:?}{end}", module_path!()),
            sql(&columns, has_end, slice),
        )
    })
}
