//! Pages of clients, for administrators.

use super::{Client, ClientType, columns};
use foundation::ids::TextId;
use foundation::list_query::{Order, PageRequest, Query};
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::fetch_all_with;
use storage::paging::{self, HasCursor, Page, PageSlice, Sorting};
use utoipa::IntoParams;

/// The columns by which the list is sorted.
const KEY: &[&str] = &["id"];

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only clients of this type.
    #[param(rename = "type", inline)]
    pub kind: Option<ClientType>,
    /// Only clients of the operator of this issuer (`true`), or only those of third parties (`false`).
    pub first_party: Option<bool>,
    /// Only disabled clients (`true`), or only enabled ones (`false`).
    pub disabled: Option<bool>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest<TextId>,
    /// The parameters with invalid values, which impose no condition.
    #[param(ignore)]
    pub refused: Vec<(&'static str, String)>,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            kind: query.first("type", ClientType::named),
            first_party: query.first("first_party", |text| text.parse().ok()),
            disabled: query.first("disabled", |text| text.parse().ok()),
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the smallest id comes first.
    pub fn order(&self) -> Order {
        self.page.order.unwrap_or(Order::Ascending)
    }
}

impl HasCursor for Client {
    type Cursor = TextId;

    fn cursor(&self) -> TextId {
        TextId::from_stored(&self.id)
    }
}

/// The parameters that determine the SQL statement of the list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    has_kind: bool,
    first_party: Option<bool>,
    disabled: Option<bool>,
    slice: PageSlice,
}

/// Returns the requested page of the clients, by id.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Client>, Error> {
    let page = &query.page;
    let sorting = Sorting::by(KEY, query.order());
    let after = page.cursor.as_ref();
    paging::read_page(page.direction, sorting, after, |slice, after| async move {
        let statement = ListStatement {
            has_kind: query.kind.is_some(),
            first_party: query.first_party,
            disabled: query.disabled,
            slice,
        };
        let values = [
            after.map(|id| Value::from(id.as_ref())),
            query.kind.map(|kind| Value::from(kind.as_str())),
        ];
        let sql = AssertSqlSafe(statement.sql());
        fetch_all_with!(db.reader(), Client, sql, values.into_iter().flatten())
    })
    .await
}

impl ListStatement {
    /// Returns the text. Its parameters are the anchor and the type, as far as there are any.
    fn sql(self) -> String {
        let slice = self.slice;
        let kind = slice.condition("type", 1, self.has_kind);
        let first_party = match self.first_party {
            None => "TRUE",
            Some(true) => "first_party",
            Some(false) => "NOT first_party",
        };
        let disabled = match self.disabled {
            None => "",
            Some(true) => " AND disabled_at IS NOT NULL",
            Some(false) => " AND disabled_at IS NULL",
        };
        let (columns, page) = (columns!(), slice.clauses());
        format!("SELECT {columns} FROM clients WHERE {first_party}{disabled}{kind}{page}")
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    const EITHER: [Option<bool>; 3] = [None, Some(false), Some(true)];
    let filters = [false, true].into_iter().flat_map(|has_kind| {
        let of_party = EITHER.into_iter();
        of_party.flat_map(move |first_party| EITHER.map(|disabled| (has_kind, first_party, disabled)))
    });
    let lists = filters.flat_map(|(has_kind, first_party, disabled)| {
        PageSlice::all(KEY).map(|slice| ListStatement {
            has_kind,
            first_party,
            disabled,
            slice,
        })
    });
    lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()))
}
