//! Queries for the recorded security events.

use foundation::clock::Timestamp;
use foundation::ids::Id;
use serde::Serialize;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error};
use storage::fetch_all_with;
use storage::paging::{self, Cursor, HasCursor, Order, Page, PageRequest, PageSlice, Query, Sorting, Value};
use utoipa::{IntoParams, ToSchema};

/// The columns by which the lists are sorted.
const KEY: &[&str] = &["at", "id"];

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
    /// The administrator whose request at `/admin/…` caused the event; for a deleted account a negative number.
    #[schema(required)]
    pub administrator_id: Option<i64>,
    /// The IP address of the caller; null for a command or a background task. For a deleted account a label of the network, such
    /// as `network 7`.
    #[schema(required)]
    pub address: Option<String>,
    /// The correlation id of the response.
    #[serde(rename = "traceId")]
    pub trace_id: String,
    /// Further details.
    #[schema(required)]
    pub detail: Option<String>,
    /// The number of events: failed sign-ins and rejected CSRF tokens of one network and minute after the first one are
    /// one entry, with the time and the correlation id of the last.
    pub count: i64,
}

/// The condition on listed events. A field that is `None` imposes no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Only events of this name.
    pub name: Option<String>,
    /// Only events of the user with this id, or of the deleted account with this pseudonym, which is negative.
    pub user_id: Option<i64>,
    /// Only events that the administrator with this id or pseudonym caused.
    pub administrator_id: Option<i64>,
}

/// The query parameters of the list of all events.
#[derive(Clone, Debug)]
pub struct ListQuery {
    filter: Filter,
    /// The requested page.
    pub page: PageRequest,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        let filter = Filter {
            name: query.first("name", |text| {
                let is_name = !text.is_empty() && !text.contains('\0');
                is_name.then(|| text.to_owned())
            }),
            user_id: query.first("user_id", parse_id),
            administrator_id: query.first("administrator_id", parse_id),
        };
        Self {
            filter,
            page: query.page_request(),
        }
    }
}

/// Parses the canonical form of an id, or of a pseudonym: an id after a minus sign.
fn parse_id(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(number) => Some(-number.parse::<Id>().ok()?.get()),
        None => Some(text.parse::<Id>().ok()?.get()),
    }
}

impl HasCursor for SecurityEvent {
    type Cursor = Cursor;

    fn cursor(&self) -> Cursor {
        Cursor {
            created_at: self.at,
            id: self.id,
        }
    }
}

impl SecurityEvent {
    /// Returns the event as the user that it concerns may see it: without the address of an administrator.
    #[must_use]
    pub fn for_its_user(self) -> Self {
        Self {
            address: self.address.filter(|_| self.administrator_id.is_none()),
            ..self
        }
    }
}

/// Returns the requested page of the events, the newest first by default.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<SecurityEvent>, Error> {
    let PageRequest {
        direction,
        order,
        cursor,
        ..
    } = query.page;
    let sorting = Sorting::by(KEY, order.unwrap_or(Order::Descending));
    paging::read_page(direction, sorting, cursor, |slice, after| {
        fetch(db, &query.filter, slice, after)
    })
    .await
}

/// Returns up to `limit` events that match `filter`, newest first: those older than the position `before`, or the
/// newest of all if there is no position.
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
    let conditions = filter.conditions();
    let columns: Vec<&str> = conditions.iter().map(|(column, _)| *column).collect();
    let anchor = after.map(|Cursor { created_at, id }| [created_at.into(), id.into()]);
    let values = conditions.into_iter().map(|(_, value)| value);
    let values = anchor.into_iter().flatten().chain(values);
    fetch_all_with!(
        db.reader(),
        SecurityEvent,
        AssertSqlSafe(sql(&columns, slice)),
        values
    )
}

impl Filter {
    /// Returns the columns that have a condition, and their values. The first one selects the fewest events.
    fn conditions(&self) -> Vec<(&'static str, Value)> {
        let conditions = [
            ("administrator_id", self.administrator_id.map(Value::from)),
            ("user_id", self.user_id.map(Value::from)),
            ("name", self.name.as_deref().map(Value::from)),
        ];
        let conditions = conditions.into_iter();
        conditions
            .filter_map(|(column, value)| Some((column, value?)))
            .collect()
    }
}

/// Returns the text of the statement with conditions on these columns. Its parameters are the anchor, if there is one, and the
/// values of the columns. Only the condition on the first column can use an index. PostgreSQL expects that half of the rows
/// fulfil each other one, so that it reads them in order and stops.
fn sql(columns: &[&str], slice: PageSlice) -> String {
    let (indexed, others) = match columns {
        [] => (
            format!("TRUE{} {}", slice.anchor_condition(), slice.order_and_limit()),
            columns,
        ),
        [first, others @ ..] => (slice.of_value(first, &slice.parameter(1)), others),
    };
    let others = others
        .iter()
        .zip(2..)
        .map(|(column, n)| (column, slice.parameter(n)));
    let others: String = others
        .map(|(column, value)| format!("CASE WHEN {column} = {value} THEN TRUE ELSE FALSE END AND "))
        .collect();
    format!(
        "SELECT id, at, name, outcome, user_id, client_id, administrator_id, address, trace_id, detail, count
         FROM security_events WHERE {others}{indexed}"
    )
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    const CONDITIONS: [&[&str]; 8] = [
        &[],
        &["name"],
        &["user_id"],
        &["user_id", "name"],
        &["administrator_id"],
        &["administrator_id", "name"],
        &["administrator_id", "user_id"],
        &["administrator_id", "user_id", "name"],
    ];
    let lists = CONDITIONS
        .into_iter()
        .flat_map(|columns| PageSlice::all(KEY).map(|slice| (columns, slice)));
    lists.map(|(columns, slice)| {
        (
            format!("{}::{slice:?} {columns:?}", module_path!()),
            sql(columns, slice),
        )
    })
}
