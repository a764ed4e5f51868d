//! Pages of initial access tokens, for administrators.

use super::{RegistrationToken, columns};
use foundation::clock::Timestamp;
use foundation::ids::TextId;
use foundation::list_query::{Order, PageRequest, Query};
use foundation::schema;
use sqlx::AssertSqlSafe;
use std::fmt;
use std::str::FromStr;
use storage::db::{Db, Error, Value};
use storage::fetch_all_with;
use storage::paging::{self, HasCursor, Page, PageSlice, Sorting};
use utoipa::IntoParams;

/// The columns by which the list is sorted.
const KEY: &[&str] = &["registration_tokens.expires_at", "registration_tokens.id"];

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only tokens that can register no more client (`true`), or only those that can (`false`).
    used_up: Option<bool>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest<Position>,
}

/// The position of a token in the list. Displayed as the microseconds since 1970 UTC at which the token ends,
/// a dot and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    expires_at: Timestamp,
    id: TextId,
}

schema! {
    Position = schema::text(3, 2_020, r"^[0-9]+\.[!-~]+$", "A position in the list, taken from `next` of a page or from its links.");
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            used_up: query.first("used_up", |text| text.parse().ok()),
            page: query.page_request(),
        }
    }
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (micros, id) = text.split_once('.').ok_or("has no dot")?;
        let is_number = micros.bytes().all(|byte| byte.is_ascii_digit());
        let micros = micros.parse().ok().filter(|_| is_number);
        Ok(Self {
            expires_at: micros
                .map(Timestamp::from_micros)
                .ok_or("has no time before the dot")?,
            id: id.parse()?,
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.expires_at.micros(), self.id)
    }
}

impl HasCursor for RegistrationToken {
    type Cursor = Position;

    fn cursor(&self) -> Position {
        Position {
            expires_at: self.expires_at,
            id: TextId::from_stored(&self.id),
        }
    }
}

/// Returns the requested page of the tokens that have not expired, the next to expire first by default.
pub async fn page(db: &Db, query: &ListQuery, now: Timestamp) -> Result<Page<RegistrationToken>, Error> {
    let page = &query.page;
    let sorting = Sorting::by(KEY, page.order.unwrap_or(Order::Ascending));
    paging::read_page(
        page.direction,
        sorting,
        page.cursor.as_ref(),
        |slice, after| async move {
            let values = [
                after.map(|after| after.expires_at.into()),
                after.map(|after| Value::from(after.id.as_ref())),
                Some(now.into()),
            ];
            let sql = AssertSqlSafe(sql(query.used_up, slice));
            fetch_all_with!(db.reader(), RegistrationToken, sql, values.into_iter().flatten())
        },
    )
    .await
}

/// Returns the text of the statement. Its parameters are the anchor, if there is one, and the time.
fn sql(used_up: Option<bool>, slice: PageSlice) -> String {
    let used_up = match used_up {
        None => "",
        Some(true) => " AND uses_left = 0",
        Some(false) => " AND uses_left > 0",
    };
    let (columns, now, page) = (columns!(), slice.parameter(1), slice.clauses());
    // `IS TRUE`, because SQLite would begin to read at the time, and not at the anchor. Expired tokens are
    // deleted soon.
    format!("SELECT {columns} FROM registration_tokens WHERE (expires_at > {now}) IS TRUE{used_up}{page}")
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let lists = [None, Some(false), Some(true)]
        .into_iter()
        .flat_map(|used_up| PageSlice::all(KEY).map(|slice| (used_up, slice)));
    lists.map(|(used_up, slice)| {
        let name = format!("{}::{slice:?} used up: {used_up:?}", module_path!());
        (name, sql(used_up, slice))
    })
}
