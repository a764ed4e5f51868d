//! Lists of sessions, for their user and for administrators.

use super::Session;
use crate::authentication_methods::AuthenticationMethods;
use crate::refresh_families::is_unrevoked;
use crate::refresh_families::revocation::ends_with_session;
use crate::services::{Identity, SessionLifetimes};
use foundation::clock::Timestamp;
use foundation::ids::Id;
use foundation::list_query::{Order, PageRequest, Query};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use storage::db::{Array, Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting};
use storage::{fetch_all, fetch_all_with, has_cursor, sql};
use utoipa::{IntoParams, ToSchema};

/// The columns by which pages are sorted.
const KEY: &[&str] = &["id"];

/// The columns of [`SessionSummary`].
macro_rules! columns {
    () => {
        "id, created_at, last_seen_at, expires_at, address, user_agent"
    };
}

/// The text of the statement that reads the [`SessionDetails`] of the sessions whose ids fulfill `$condition`
/// at the time `$2`. Reads the tables `users`, `clients` and `refresh_families` too, which other modules own.
macro_rules! details {
    ($condition:literal) => {
        concat!(
            "SELECT sessions.id, users.email, sessions.amr,
                    (SELECT COUNT(*) FROM refresh_families WHERE ",
            ends_with_session!("sessions.id"),
            " AND refresh_families.idle_expires_at > $2 AND refresh_families.expires_at > $2 AND ",
            is_unrevoked!(),
            ") AS families
             FROM sessions JOIN users ON users.id = sessions.user_id WHERE sessions.id ",
            $condition
        )
    };
}

sql! {
    LIST = concat!(
        "SELECT ", columns!(), ", id = $4 AS current FROM sessions
         WHERE user_id = $1 AND last_seen_at > $2 AND expires_at > $3 ORDER BY last_seen_at DESC, id DESC LIMIT 100");
    // The first parameter of these two is an array of ids.
    DETAILS_SQLITE = details!("IN (SELECT value FROM json_each($1))");
    DETAILS_POSTGRES = details!("= ANY ($1)");
}

/// A session, without its secret.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct SessionSummary {
    /// The session's id, which is not secret.
    pub id: i64,
    /// The time of the sign-in.
    pub created_at: Timestamp,
    /// The time of the last use, accurate to a minute.
    pub last_seen_at: Timestamp,
    /// The time at which the session ends, even if it is in use.
    pub expires_at: Timestamp,
    /// The IP address from which the user signed in.
    #[schema(required)]
    pub address: Option<String>,
    /// The `User-Agent` header of the sign-in.
    #[schema(required)]
    pub user_agent: Option<String>,
}

/// A session, as the API represents it to its user.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
#[schema(as = Session)]
pub struct OwnSession {
    /// The session.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub session: SessionSummary,
    /// Whether this is the session of the current request.
    pub current: bool,
}

/// A session, as administrators see it.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub struct UserSession {
    /// The session.
    #[serde(flatten)]
    #[sqlx(flatten)]
    pub session: SessionSummary,
    /// The user who signed in.
    pub user_id: i64,
}

/// The facts about a session that only the page for administrators shows.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SessionDetails {
    /// The session's id.
    pub id: i64,
    /// The address of the user.
    pub email: String,
    /// The methods by which the user signed in.
    #[sqlx(rename = "amr", try_from = "String")]
    pub methods: AuthenticationMethods,
    /// The number of refresh families of first-party clients that end with the session.
    pub families: i64,
}

/// The query parameters of the list of all sessions.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only sessions of this user.
    #[param(inline)]
    pub user_id: Option<Id>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest,
    /// The parameters with invalid values, which impose no condition.
    #[param(ignore)]
    pub refused: Vec<(&'static str, String)>,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            user_id: query.first("user_id", |text| text.parse().ok()),
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the newest session comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Descending)
    }
}

has_cursor!(UserSession: session.created_at, session.id);

/// Returns the live sessions of a user, the most recently used first, at most 100. Marks `session`, that of
/// the request, if it is one of them.
pub async fn list(
    identity: &Identity,
    user_id: i64,
    session: &Session,
    now: Timestamp,
) -> Result<Vec<OwnSession>, Error> {
    let idle_since = now.before(identity.session_lifetimes.idle);
    let on = identity.db.reader();
    fetch_all!(on, OwnSession, LIST, user_id, idle_since, now, session.id)
}

/// Returns the requested page of the live sessions, of this user or else of all users, the newest first by
/// default.
pub async fn page(
    db: &Db,
    query: &ListQuery,
    lifetimes: SessionLifetimes,
    now: Timestamp,
) -> Result<Page<UserSession>, Error> {
    let page = &query.page;
    let sorting = Sorting::by(KEY, query.order());
    let after = page.cursor.map(|cursor| cursor.id);
    paging::read_page(page.direction, sorting, after, |slice, after| {
        let user_id = query.user_id.map(Id::get);
        let times = [now.before(lifetimes.idle), now].map(Timestamp::micros);
        let values = [after, Some(times[0]), Some(times[1]), user_id];
        fetch_page(db, page_sql(slice, user_id.is_some()), values)
    })
    .await
}

/// Returns the details of these sessions in any order, without those of sessions that have ended meanwhile.
pub async fn details(
    db: &Db,
    sessions: &[UserSession],
    now: Timestamp,
) -> Result<Vec<SessionDetails>, Error> {
    let ids = Array::of(sessions, |session| session.session.id);
    let sql = db.engine().choose(DETAILS_SQLITE, DETAILS_POSTGRES);
    fetch_all!(db.reader(), SessionDetails, sql, ids, now)
}

async fn fetch_page(db: &Db, sql: String, values: [Option<i64>; 4]) -> Result<Vec<UserSession>, Error> {
    let values = values.into_iter().flatten().map(Value::from);
    fetch_all_with!(db.reader(), UserSession, AssertSqlSafe(sql), values)
}

/// Returns the text of the statement for a page. Its parameters are the anchor, the times of the last use and
/// of the end after which sessions are live, and the user, as far as there are any.
fn page_sql(slice: PageSlice, is_of_user: bool) -> String {
    let of_user = slice.condition("user_id", 3, is_of_user);
    let (columns, used_after, ends_after) = (columns!(), slice.parameter(1), slice.parameter(2));
    format!(
        "SELECT {columns}, user_id FROM sessions
         WHERE last_seen_at > {used_after} AND expires_at > {ends_after}{of_user}{}",
        slice.clauses()
    )
}

/// Returns the names and texts of the statements for pages.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let slices = PageSlice::all(KEY).into_iter();
    let lists = slices.flat_map(|slice| [false, true].map(|is_of_user| (slice, is_of_user)));
    lists.map(|(slice, is_of_user)| {
        let name = format!("{}::{slice:?} of a user: {is_of_user}", module_path!());
        (name, page_sql(slice, is_of_user))
    })
}
