//! Pages of accounts, for administrators.

use super::account::{Account, columns};
use foundation::email::Email;
use foundation::list_query::{Order, PageRequest, Query};
use foundation::role::Role;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::paging::{self, Page, PageSlice, Sorting};
use storage::{fetch_all_with, has_cursor};
use utoipa::IntoParams;

/// The columns by which the list is sorted.
const KEY: &[&str] = &["id"];

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only the user with this address, in any case.
    #[param(inline)]
    pub email: Option<Email>,
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

/// The parameters that determine the SQL statement of the list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    has_email: bool,
    has_role: bool,
    disabled: Option<bool>,
    slice: PageSlice,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        let (email, role, disabled) = (
            query.first("email", |text| Email::parse(text).ok()),
            query.first("role", Role::named),
            query.first("disabled", |text| text.parse().ok()),
        );
        Self {
            email,
            role,
            disabled,
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the smallest id comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Ascending)
    }
}

has_cursor!(Account: user.created_at, user.id);

/// Returns the requested page of the accounts, by id. Deleted ones are left out.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Account>, Error> {
    let page = &query.page;
    let sorting = Sorting::by(KEY, query.order());
    let after = page.cursor.map(|cursor| cursor.id);
    paging::read_page(page.direction, sorting, after, |slice, after| async move {
        let statement = ListStatement {
            has_email: query.email.is_some(),
            has_role: query.role.is_some(),
            disabled: query.disabled,
            slice,
        };
        let values = [
            after.map(Value::from),
            query.role.map(|role| role.as_str().into()),
            query.email.as_ref().map(|email| email.key().into()),
        ];
        let sql = AssertSqlSafe(statement.sql());
        fetch_all_with!(db.reader(), Account, sql, values.into_iter().flatten())
    })
    .await
}

impl ListStatement {
    /// Returns the text. Its parameters are the anchor, the role and the key of the address, as far as there
    /// are any.
    fn sql(self) -> String {
        let slice = self.slice;
        let disabled = match self.disabled {
            None => "",
            Some(true) => " AND disabled_at IS NOT NULL",
            Some(false) => " AND disabled_at IS NULL",
        };
        let role = slice.condition("role", 1, self.has_role);
        let email = slice.condition("email_key", 1 + usize::from(self.has_role), self.has_email);
        let (columns, page) = (columns!(), slice.clauses());
        format!("SELECT {columns} FROM users WHERE deleted_at IS NULL{disabled}{role}{email}{page}")
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let filters = [false, true].into_iter().flat_map(|has_email| {
        let with_role = [false, true].map(|has_role| (has_email, has_role));
        with_role
            .into_iter()
            .flat_map(|filter| [None, Some(false), Some(true)].map(|disabled| (filter, disabled)))
    });
    let lists = filters.flat_map(|((has_email, has_role), disabled)| {
        let slices = PageSlice::all(KEY).into_iter();
        slices.map(move |slice| ListStatement {
            has_email,
            has_role,
            disabled,
            slice,
        })
    });
    lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()))
}
