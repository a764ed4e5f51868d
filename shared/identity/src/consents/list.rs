//! Pages of consents, for administrators.

use super::{Access, access};
use crate::refresh_families::is_unrevoked;
use foundation::clock::Timestamp;
use foundation::ids::{Id, TextId};
use foundation::list_query::{Order, PageRequest, Query};
use foundation::schema;
use serde::Serialize;
use sqlx::AssertSqlSafe;
use std::fmt;
use std::str::FromStr;
use storage::db::{Array, Db, Error, Value};
use storage::paging::{self, HasCursor, Page, PageSlice, Sorting};
use storage::{fetch_all, fetch_all_with, sql};
use utoipa::{IntoParams, ToSchema};

/// The text of the statement that reads the [`ConsentDetails`] of the consents whose ids fulfill `$condition`
/// at the time `$2`. Reads the tables `users`, `clients` and `refresh_families` too, which other modules own.
macro_rules! details {
    ($condition:literal) => {
        concat!(
            "SELECT consents.id, users.email,
                    (SELECT COUNT(*) FROM refresh_families
                     WHERE refresh_families.user_id = consents.user_id AND refresh_families.client_id = consents.client_id
                       AND refresh_families.idle_expires_at > $2 AND refresh_families.expires_at > $2 AND ",
            is_unrevoked!(),
            ") AS families
             FROM consents JOIN users ON users.id = consents.user_id WHERE consents.id ",
            $condition
        )
    };
}

sql! {
    // The first parameter of these two is an array of ids.
    DETAILS_SQLITE = details!("IN (SELECT value FROM json_each($1))");
    DETAILS_POSTGRES = details!("= ANY ($1)");
}

/// A consent, as administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct Consent {
    /// The consent's id.
    pub id: String,
    /// The user who consented.
    pub user_id: i64,
    /// The app's `client_id`.
    pub client_id: String,
    /// The granted access.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub access: Access,
}

/// The facts about a consent that only the page for administrators shows.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ConsentDetails {
    /// The consent's id.
    pub id: String,
    /// The address of the user.
    pub email: String,
    /// The number of refresh families that end with the consent.
    pub families: i64,
}

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only consents of this user.
    #[param(inline)]
    pub user_id: Option<Id>,
    /// Only consents to this client.
    #[param(inline)]
    pub client_id: Option<TextId>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest<Position>,
    /// The parameters with invalid values, which impose no condition.
    #[param(ignore)]
    pub refused: Vec<(&'static str, String)>,
}

/// The position of a consent in the list. Displayed as the id of the user, a dot and the `client_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    user_id: i64,
    client_id: TextId,
}

schema! {
    Position = schema::text(3, 2_017, r"^[1-9][0-9]*\.[!-~]+$", "A position in the list, taken from `next` of a page or from its links.");
}

/// The parameters that determine the SQL statement of the list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    is_of_user: bool,
    is_of_client: bool,
    slice: PageSlice,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            user_id: query.first("user_id", |text| text.parse().ok()),
            client_id: query.first("client_id", |text| text.parse().ok()),
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the smallest ids come first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Ascending)
    }
}

impl FromStr for Position {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (user_id, client_id) = text.split_once('.').ok_or("has no dot")?;
        Ok(Self {
            user_id: user_id
                .parse()
                .map(Id::get)
                .map_err(|_| "has no id before the dot")?,
            client_id: client_id.parse()?,
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.user_id, self.client_id)
    }
}

impl HasCursor for Consent {
    type Cursor = Position;

    fn cursor(&self) -> Position {
        Position {
            user_id: self.user_id,
            client_id: TextId::from_stored(&self.client_id),
        }
    }
}

/// Returns the requested page of the consents, by user and client.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Consent>, Error> {
    let page = &query.page;
    let (user_id, client_id) = (query.user_id, query.client_id.as_ref());
    let (is_of_user, is_of_client) = (user_id.is_some(), client_id.is_some());
    let sorting = Sorting::by(key(is_of_user, is_of_client), query.order());
    let value_of_client = |id: &TextId| Value::from(id.as_ref());
    let after = page.cursor.as_ref();
    paging::read_page(page.direction, sorting, after, |slice, after| async move {
        let user = after.filter(|_| is_of_client || !is_of_user);
        let client = after.filter(|_| !is_of_client);
        let values = [
            user.map(|after| after.user_id.into()),
            client.map(|after| value_of_client(&after.client_id)),
            user_id.map(|id| id.get().into()),
            client_id.map(value_of_client),
        ];
        let statement = ListStatement {
            is_of_user,
            is_of_client,
            slice,
        };
        let sql = AssertSqlSafe(statement.sql());
        fetch_all_with!(db.reader(), Consent, sql, values.into_iter().flatten())
    })
    .await
}

/// Returns the details of these consents in any order, without those of consents that were revoked meanwhile.
pub async fn details(db: &Db, consents: &[Consent], now: Timestamp) -> Result<Vec<ConsentDetails>, Error> {
    let ids = Array::of(consents, |consent| consent.id.as_str());
    let sql = db.engine().choose(DETAILS_SQLITE, DETAILS_POSTGRES);
    fetch_all!(db.reader(), ConsentDetails, sql, ids, now)
}

/// Returns the columns by which the consents of a user, of a client or of all are sorted.
const fn key(is_of_user: bool, is_of_client: bool) -> &'static [&'static str] {
    match (is_of_user, is_of_client) {
        (false, false) => &["consents.user_id", "consents.client_id"],
        (true, false) => &["consents.client_id"],
        (_, true) => &["consents.user_id"],
    }
}

impl ListStatement {
    /// Returns the text. Its parameters are the anchor, the user and the client, as far as there are any.
    fn sql(self) -> String {
        let slice = self.slice;
        let (first, second) = (slice.parameter(1), slice.parameter(2));
        let filter = match (self.is_of_user, self.is_of_client) {
            (false, false) => "TRUE".to_owned(),
            (true, false) => format!("consents.user_id = {first}"),
            (false, true) => format!("consents.client_id = {first}"),
            (true, true) => format!("consents.user_id = {first} AND consents.client_id = {second}"),
        };
        format!(
            "SELECT consents.id, consents.user_id, consents.client_id, {} WHERE {filter}{}",
            access!(),
            slice.clauses()
        )
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let filters = [(false, false), (true, false), (false, true), (true, true)];
    let lists = filters.into_iter().flat_map(|(is_of_user, is_of_client)| {
        let slices = PageSlice::all(key(is_of_user, is_of_client));
        slices.map(|slice| ListStatement {
            is_of_user,
            is_of_client,
            slice,
        })
    });
    lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()))
}
