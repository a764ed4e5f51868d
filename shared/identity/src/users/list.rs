//! Pages of accounts, for administrators.

use super::account::{Account, columns};
use foundation::email::Email;
use foundation::list_query::{Order, PageRequest, Query, parse_text};
use foundation::role::Role;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting};
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
            key.map(|(key,)| Value::Text(key))
        }
        Some(cursor) => Some(Value::from(cursor.id)),
    };
    paging::read_page(page.direction, sorting, anchor, |slice, anchor| async move {
        let statement = ListStatement {
            by_email,
            has_role: query.role.is_some(),
            disabled: query.disabled,
            slice,
        };
        let email = match by_email {
            ByEmail::No => None,
            ByEmail::Whole => query.email.as_ref().map(|email| email.key().into()),
            ByEmail::Prefix => query.search.as_ref().map(|text| Value::Text(text.to_lowercase())),
        };
        let values = [anchor, query.role.map(|role| role.as_str().into()), email];
        let sql = AssertSqlSafe(statement.sql());
        fetch_all_with!(db.reader(), Account, sql, values.into_iter().flatten())
    })
    .await
}

impl ListQuery {
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
    /// Returns the text. Its parameters are the anchor, the role and the key of the address or its beginning,
    /// as far as there are any.
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
            // No character comes after this one.
            ByEmail::Prefix => {
                format!(" AND email_key >= {value} AND email_key < {value} || '\u{10ffff}'")
            }
        };
        let (columns, page) = (columns!(), slice.clauses());
        format!("SELECT {columns} FROM users WHERE deleted_at IS NULL{disabled}{role}{email}{page}")
    }
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
        let slices = PageSlice::all(by_email.key()).into_iter();
        slices.map(move |slice| ListStatement {
            by_email,
            has_role,
            disabled,
            slice,
        })
    });
    lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()))
}
