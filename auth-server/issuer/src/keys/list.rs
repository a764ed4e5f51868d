//! Pages of signing keys, for administrators.

use super::table::{Key, State, columns, find_position};
use audit::figures::live_tokens;
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::list_query::{Order, PageRequest, Query};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting};
use storage::{fetch_all_with, has_cursor};
use utoipa::{IntoParams, ToSchema};

/// The columns by which the list is sorted.
const KEY: &[&str] = &["number"];

/// A key with the number of its tokens.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedSigningKey)]
pub struct ListedKey {
    /// The key.
    #[serde(flatten)]
    pub key: Key,
    /// The number of access tokens that the key has signed and that have not expired, as of the end of the
    /// last minute. Revoked ones are included.
    pub live_tokens: u64,
}

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only keys in this state.
    #[param(inline)]
    pub state: Option<State>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            state: query.first("state", State::named),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the newest key comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Descending)
    }
}

has_cursor!(Key: created_at, number);
has_cursor!(ListedKey: key.created_at, key.number);

/// Returns the requested page of the keys, the newest first by default. Deleted keys are included.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Key>, Error> {
    let (page, state) = (&query.page, query.state);
    let sorting = Sorting::by(KEY, query.order());
    let after = page.cursor.map(|cursor| cursor.id);
    paging::read_page(page.direction, sorting, after, |slice, after| async move {
        let state_name = state.map(|state| Value::from(state.as_str()));
        let values = [after.map(Value::from), state_name];
        let sql = AssertSqlSafe(sql(state.is_some(), slice));
        fetch_all_with!(db.reader(), Key, sql, values.into_iter().flatten())
    })
    .await
}

/// Returns the query of the page that begins with the key of this `kid` and goes on with older ones. It is
/// the first page if there is no such key.
pub async fn query_from(db: &Db, kid: &str) -> Result<ListQuery, Error> {
    let mut query = ListQuery::parse("");
    let position = find_position(db, kid).await?;
    // A page leaves out the item at its cursor, so the cursor is one number above the key.
    query.page.cursor = position.map(|(created_at, number)| Cursor {
        created_at,
        id: number + 1,
    });
    Ok(query)
}

/// Returns the newest deleted keys, as many as a page has.
pub async fn newest_deleted(db: &Db) -> Result<Vec<Key>, Error> {
    let deleted = ListQuery {
        state: Some(State::Deleted),
        ..ListQuery::parse("")
    };
    Ok(page(db, &deleted).await?.items)
}

/// Returns these keys with the numbers of their tokens.
pub async fn with_live_tokens(db: &Db, keys: Vec<Key>, now: Timestamp) -> Result<Vec<ListedKey>, Error> {
    let live_tokens = live_tokens::read(db, now).await?;
    let listed = keys.into_iter().map(|key| ListedKey {
        live_tokens: live_tokens.get(&key.kid).copied().unwrap_or_default(),
        key,
    });
    Ok(listed.collect())
}

/// Returns the text of the statement. Its parameters are the anchor and the state, as far as there are any.
fn sql(has_state: bool, slice: PageSlice) -> String {
    let state = match has_state {
        true => format!("state = {}", slice.parameter(1)),
        false => "TRUE".to_owned(),
    };
    let (columns, page) = (columns!(), slice.clauses());
    format!("SELECT {columns} FROM signing_keys WHERE {state}{page}")
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let lists = [false, true]
        .into_iter()
        .flat_map(|has_state| PageSlice::all(KEY).map(|slice| (has_state, slice)));
    lists.map(|(has_state, slice)| {
        let name = format!("{}::{slice:?} {has_state}", module_path!());
        (name, sql(has_state, slice))
    })
}
