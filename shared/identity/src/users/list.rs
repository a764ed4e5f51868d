//! Pages of accounts, for administrators.

use super::account::{Account, columns};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::email::Email;
use foundation::list_query::{Order, PageRequest, Query, parse_text};
use foundation::role::Role;
use sqlx::AssertSqlSafe;
use std::iter;
use storage::db::{Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting, begins_with};
use storage::{fetch_all_with, fetch_optional, has_cursor, sql};
use utoipa::IntoParams;

sql! {
    EMAIL_KEY = "SELECT email_key FROM users WHERE id = $1";
}

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only the user with this address, in any case.
    #[param(inline)]
    pub email: Option<Email>,
    /// Only users whose addresses begin with this text, in any case. They are sorted by address.
    pub search: Option<String>,
    /// Only users with this role.
    #[param(inline)]
    pub role: Option<Role>,
    /// Only disabled users (`true`), or only enabled ones (`false`).
    pub disabled: Option<bool>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest,
    /// The parameters with invalid values, which impose no condition.
    #[param(ignore)]
    pub refused: Vec<(&'static str, String)>,
}

/// How addresses select users, if they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByEmail {
    No,
    Whole,
    Prefix,
}

/// The parameters that determine the SQL statement of the list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    by_email: ByEmail,
    has_role: bool,
    disabled: Option<bool>,
    has_end: bool,
    slice: PageSlice,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        let (email, search, role, disabled) = (
            query.first("email", |text| Email::parse(text).ok()),
            query.first("search", parse_text),
            query.first("role", Role::named),
            query.first("disabled", |text| text.parse().ok()),
        );
        Self {
            email,
            search,
            role,
            disabled,
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the smallest id or the first address comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Ascending)
    }
}

has_cursor!(Account: user.created_at, user.id);

/// Returns the requested page of the accounts, by id, or by address if the beginning of one selects them.
/// Deleted ones are left out.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Account>, Error> {
    let (page, by_email) = (&query.page, query.by_email());
    let sorting = Sorting::by(by_email.key(), query.order());
    let anchor = match page.cursor {
        None => None,
        Some(cursor) if by_email == ByEmail::Prefix => {
            let key = fetch_optional!(db.reader(), (String,), EMAIL_KEY, cursor.id)?;
            // The key of a user who was deleted, or has another address by now, is no position in the list.
            let prefix = query.prefix().unwrap_or_default();
            key.filter(|(key,)| key.starts_with(&prefix))
                .map(|(key,)| Value::Text(key))
        }
        Some(cursor) => Some(Value::from(cursor.id)),
    };
    paging::search_page(page.direction, sorting, anchor, |slice, anchor| {
        search(db, query, slice, anchor)
    })
    .await
}

/// Reads a slice, up to the last user that a page searches. Returns that position too, if there is one.
async fn search(
    db: &Db,
    query: &ListQuery,
    slice: PageSlice,
    anchor: Option<Value>,
) -> Result<(Vec<Account>, Option<Cursor>), Error> {
    let by_email = query.by_email();
    let email = match by_email {
        ByEmail::No => None,
        ByEmail::Whole => query.email.as_ref().map(|email| email.key().into()),
        ByEmail::Prefix => query.prefix().map(Value::Text),
    };
    let mut statement = ListStatement {
        by_email,
        has_role: query.role.is_some(),
        disabled: query.disabled,
        has_end: false,
        slice,
    };
    let last = match statement.is_searched() {
        true => {
            let (sql, values) = (AssertSqlSafe(last_sql(slice)), [anchor.clone(), email.clone()]);
            let values = values.into_iter().flatten();
            fetch_all_with!(db.reader(), (Timestamp, i64, String), sql, values)?.pop()
        }
        false => None,
    };
    statement.has_end = last.is_some();
    let (rest, end) = match last {
        Some((created_at, id, key)) => (Some(Cursor { created_at, id }), Some(Value::Text(key))),
        None => (None, None),
    };
    let values = [anchor, query.role.map(|role| role.as_str().into()), email, end];
    let sql = AssertSqlSafe(statement.sql());
    let accounts = fetch_all_with!(db.reader(), Account, sql, values.into_iter().flatten())?;
    Ok((accounts, rest))
}

impl ListQuery {
    /// Returns the text with which the keys of the selected addresses begin.
    fn prefix(&self) -> Option<String> {
        self.search.as_ref().map(|text| text.to_lowercase())
    }

    const fn by_email(&self) -> ByEmail {
        match (&self.email, &self.search) {
            (Some(_), _) => ByEmail::Whole,
            (None, Some(_)) => ByEmail::Prefix,
            (None, None) => ByEmail::No,
        }
    }
}

impl ByEmail {
    const ALL: [Self; 3] = [Self::No, Self::Whole, Self::Prefix];

    /// Returns the columns by which the users are sorted.
    const fn key(self) -> &'static [&'static str] {
        match self {
            Self::No | Self::Whole => &["id"],
            Self::Prefix => &["email_key"],
        }
    }
}

impl ListStatement {
    /// Returns whether no index has the users that fit: that of the addresses has neither role nor state.
    fn is_searched(self) -> bool {
        self.by_email == ByEmail::Prefix && (self.has_role || self.disabled.is_some())
    }

    /// Returns the text. Its parameters are the anchor, the role, the key of the address or its beginning,
    /// and the key of the last user, as far as there are any.
    fn sql(self) -> String {
        let slice = self.slice;
        let disabled = match self.disabled {
            None => "",
            Some(true) => " AND disabled_at IS NOT NULL",
            Some(false) => " AND disabled_at IS NULL",
        };
        // Without statistics SQLite would read all users with the role, and sort them.
        let role = match self.by_email {
            ByEmail::Prefix => "COALESCE(role, '')",
            _ => "role",
        };
        let role = slice.condition(role, 1, self.has_role);
        let value = slice.parameter(1 + usize::from(self.has_role));
        let email = match self.by_email {
            ByEmail::No => String::new(),
            ByEmail::Whole => format!(" AND email_key = {value}"),
            ByEmail::Prefix => begins_with("email_key", &value),
        };
        let end = match self.has_end {
            true => slice.up_to(2 + usize::from(self.has_role)),
            false => String::new(),
        };
        let (columns, page) = (columns!(), slice.clauses());
        format!("SELECT {columns} FROM users WHERE deleted_at IS NULL{disabled}{role}{email}{end}{page}")
    }
}

/// Returns the text of the statement that reads the position and the address of the last user that a page
/// searches.
fn last_sql(slice: PageSlice) -> String {
    slice.last_searched("created_at, id, email_key", "users")
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let filters = ByEmail::ALL.into_iter().flat_map(|by_email| {
        let with_role = [false, true].map(|has_role| (by_email, has_role));
        with_role
            .into_iter()
            .flat_map(|filter| [None, Some(false), Some(true)].map(|disabled| (filter, disabled)))
    });
    let lists = filters.flat_map(|((by_email, has_role), disabled)| {
        PageSlice::all(by_email.key()).map(|slice| ListStatement {
            by_email,
            has_role,
            disabled,
            has_end: false,
            slice,
        })
    });
    let lists = lists.flat_map(|list| {
        let with_end = ListStatement {
            has_end: true,
            ..list
        };
        iter::once(list).chain(list.is_searched().then_some(with_end))
    });
    let lists = lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()));
    let slices = PageSlice::all(ByEmail::Prefix.key()).into_iter();
    lists.chain(slices.map(|slice| (format!("{}::last {slice:?}", module_path!()), last_sql(slice))))
}
