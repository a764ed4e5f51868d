//! Pages of clients, for administrators.

use super::{Client, ClientType, columns};
use foundation::ids::TextId;
use foundation::list_query::{Order, PageRequest, Query, parse_text};
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error, Value};
use storage::paging::{self, HasCursor, Page, PageSlice, Sorting};
use storage::{fetch_all_with, fetch_optional, sql};
use utoipa::IntoParams;

sql! {
    NAME = "SELECT lower(name) FROM clients WHERE id = $1";
}

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only the client with this `client_id`, or, if there is none, the clients whose names begin with this
    /// text, in any case of the letters A to Z. They are sorted by name.
    pub search: Option<String>,
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
            search: query.first("search", parse_text),
            kind: query.first("type", ClientType::named),
            first_party: query.first("first_party", |text| text.parse().ok()),
            disabled: query.first("disabled", |text| text.parse().ok()),
            refused: query.refused().to_vec(),
            page: query.page_request(),
        }
    }

    /// Returns the order; by default the smallest id or the first name comes first.
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

/// How a text selects clients, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    None,
    Id,
    Name,
}

/// The parameters that determine the SQL statement of the list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    search: Search,
    has_kind: bool,
    first_party: Option<bool>,
    disabled: Option<bool>,
    slice: PageSlice,
}

/// Returns the requested page of the clients, by id, or by name if a text selects them.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Client>, Error> {
    let search = match query.search {
        None => Search::None,
        Some(_) => Search::Name,
    };
    if search == Search::Name {
        let items = fetch(db, query, Search::Id, Search::Id.first_slice(), Vec::new()).await?;
        if !items.is_empty() {
            return Ok(Page {
                items,
                is_first: true,
                rest: None,
            });
        }
    }
    let (page, sorting) = (&query.page, Sorting::by(search.key(), query.order()));
    let anchor = match &page.cursor {
        None => None,
        Some(id) => anchor(db, search, id).await?,
    };
    paging::read_page(page.direction, sorting, anchor, |slice, anchor| {
        fetch(db, query, search, slice, anchor.unwrap_or_default())
    })
    .await
}

/// Returns the values of the key of the client with this id; `None` if a name is needed and there is none.
async fn anchor(db: &Db, search: Search, id: &TextId) -> Result<Option<Vec<Value>>, Error> {
    let id: &str = id.as_ref();
    if search != Search::Name {
        return Ok(Some(vec![Value::from(id)]));
    }
    let name = fetch_optional!(db.reader(), (String,), NAME, id)?;
    Ok(name.map(|(name,)| vec![Value::Text(name), Value::from(id)]))
}

async fn fetch(
    db: &Db,
    query: &ListQuery,
    search: Search,
    slice: PageSlice,
    anchor: Vec<Value>,
) -> Result<Vec<Client>, Error> {
    let statement = ListStatement {
        search,
        has_kind: query.kind.is_some(),
        first_party: query.first_party,
        disabled: query.disabled,
        slice,
    };
    let text = query.search.as_deref().map(|text| match search {
        Search::Name => Value::Text(text.to_ascii_lowercase()),
        _ => Value::from(text),
    });
    let kind = query.kind.map(|kind| Value::from(kind.as_str()));
    let values = anchor.into_iter().chain(kind).chain(text);
    let sql = AssertSqlSafe(statement.sql());
    fetch_all_with!(db.reader(), Client, sql, values)
}

impl Search {
    /// Returns the columns by which the clients are sorted.
    const fn key(self) -> &'static [&'static str] {
        match self {
            Self::None | Self::Id => &["id"],
            Self::Name => &["lower(name)", "id"],
        }
    }

    const fn first_slice(self) -> PageSlice {
        PageSlice::of(Sorting::by(self.key(), Order::Ascending), false)
    }

    /// Returns the slices that are read.
    fn slices(self) -> Vec<PageSlice> {
        match self {
            Self::Id => vec![self.first_slice()],
            _ => PageSlice::all(self.key()).to_vec(),
        }
    }
}

impl ListStatement {
    /// Returns the text. Its parameters are the anchor, the type and the text that is searched for, as far as
    /// there are any.
    fn sql(self) -> String {
        let slice = self.slice;
        // Without statistics SQLite would read all clients of the type, and sort them.
        let kind = match self.search {
            Search::Name => "COALESCE(type, '')",
            _ => "type",
        };
        let kind = slice.condition(kind, 1, self.has_kind);
        let text = slice.parameter(1 + usize::from(self.has_kind));
        let search = match self.search {
            Search::None => String::new(),
            Search::Id => format!(" AND id = {text}"),
            // No character comes after this one.
            Search::Name => {
                format!(" AND lower(name) >= {text} AND lower(name) < {text} || '\u{10ffff}'")
            }
        };
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
        format!("SELECT {columns} FROM clients WHERE {first_party}{disabled}{kind}{search}{page}")
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    const EITHER: [Option<bool>; 3] = [None, Some(false), Some(true)];
    let searches = [Search::None, Search::Id, Search::Name].into_iter();
    let slices = searches.flat_map(|search| search.slices().into_iter().map(move |slice| (search, slice)));
    let filters = || {
        let of_party = EITHER.into_iter();
        let of_state = of_party.flat_map(|first_party| EITHER.map(|disabled| (first_party, disabled)));
        of_state.flat_map(|of_state| [false, true].map(|has_kind| (has_kind, of_state)))
    };
    let lists = slices.flat_map(move |(search, slice)| {
        filters().map(move |(has_kind, (first_party, disabled))| ListStatement {
            search,
            has_kind,
            first_party,
            disabled,
            slice,
        })
    });
    lists.map(|list| (format!("{}::{list:?}", module_path!()), list.sql()))
}
