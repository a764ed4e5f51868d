//! Pages of clients, for administrators.

use super::{Client, ClientType, columns};
use foundation::ids::TextId;
use foundation::list_query::{Order, PageRequest, Query, parse_text};
use sqlx::AssertSqlSafe;
use std::iter;
use storage::db::{Db, Error, Value};
use storage::paging::{self, HasCursor, PAGE_SIZE, Page, PageSlice, Sorting, begins_with};
use storage::{fetch_all_with, fetch_optional, sql};
use utoipa::IntoParams;

sql! {
    NAME = "SELECT lower(name) FROM clients WHERE id = $1";
}

/// The query parameters of the list.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only the client with this `client_id`, which comes first, and the clients whose names begin with this
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
    /// Returns the text with which the sorted names of the selected clients begin.
    fn prefix(&self) -> Option<String> {
        self.search.as_ref().map(|text| text.to_ascii_lowercase())
    }

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
    has_end: bool,
    slice: PageSlice,
}

/// Returns the requested page of the clients, by id, or by name if a text selects them. The first page by
/// name begins with the client that has the text as its id.
pub async fn page(db: &Db, query: &ListQuery) -> Result<Page<Client>, Error> {
    let by = match query.search {
        None => Search::None,
        Some(_) => Search::Name,
    };
    let (page, sorting) = (&query.page, Sorting::by(by.key(), query.order()));
    let anchor = match &page.cursor {
        None => None,
        Some(id) => anchor(db, query, by, id).await?,
    };
    let mut found = paging::search_page(page.direction, sorting, anchor, |slice, anchor| {
        search(db, query, by, slice, anchor.unwrap_or_default())
    })
    .await?;
    if by == Search::Name && found.is_first {
        let slice = Search::Id.first_slice();
        let (with_id, _) = search(db, query, Search::Id, slice, Vec::new()).await?;
        found.items.splice(0..0, with_id);
        found.items.truncate(PAGE_SIZE);
    }
    Ok(found)
}

/// Returns the values of the key of the client with this id. `None` if the list is sorted by name and the
/// client is no position in it: it was deleted, or its name no longer begins with the text of the search.
async fn anchor(
    db: &Db,
    query: &ListQuery,
    search: Search,
    id: &TextId,
) -> Result<Option<Vec<Value>>, Error> {
    let id: &str = id.as_ref();
    if search != Search::Name {
        return Ok(Some(vec![Value::from(id)]));
    }
    let name = fetch_optional!(db.reader(), (String,), NAME, id)?;
    let prefix = query.prefix().unwrap_or_default();
    let found = name.filter(|(name,)| name.starts_with(&prefix));
    Ok(found.map(|(name,)| vec![Value::Text(name), Value::from(id)]))
}

/// Reads a slice, up to the last client that a page searches. Returns that position too, if there is one.
async fn search(
    db: &Db,
    query: &ListQuery,
    search: Search,
    slice: PageSlice,
    anchor: Vec<Value>,
) -> Result<(Vec<Client>, Option<TextId>), Error> {
    let text = match search {
        Search::Name => query.prefix().map(Value::Text),
        _ => query.search.as_deref().map(Value::from),
    };
    let mut statement = ListStatement {
        search,
        has_kind: query.kind.is_some(),
        first_party: query.first_party,
        disabled: query.disabled,
        has_end: false,
        slice,
    };
    let last = match statement.is_searched() {
        true => {
            let sql = AssertSqlSafe(last_sql(slice));
            let values = anchor.iter().cloned().chain(text.clone());
            fetch_all_with!(db.reader(), (String, String), sql, values)?.pop()
        }
        false => None,
    };
    statement.has_end = last.is_some();
    let rest = last.as_ref().map(|(_, id)| TextId::from_stored(id));
    let end = last
        .into_iter()
        .flat_map(|(name, id)| [name, id].map(Value::Text));
    let kind = query.kind.map(|kind| Value::from(kind.as_str()));
    let id = query.search.as_deref().filter(|_| search == Search::Name);
    let id = id.map(Value::from);
    let values = anchor.into_iter().chain(kind).chain(text).chain(id).chain(end);
    let sql = AssertSqlSafe(statement.sql());
    Ok((fetch_all_with!(db.reader(), Client, sql, values)?, rest))
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
    /// Returns whether no index has the clients that fit: that of the names has no other column.
    fn is_searched(self) -> bool {
        let has_condition = self.has_kind || self.first_party.is_some() || self.disabled.is_some();
        self.search == Search::Name && has_condition
    }

    /// Returns the text. Its parameters are the anchor, the type, the text that is searched for, for names
    /// also the id that they must not have, and the key of the last client, as far as there are any.
    fn sql(self) -> String {
        let slice = self.slice;
        // Without statistics SQLite would read all clients of the type, and sort them.
        let kind = match self.search {
            Search::Name => "COALESCE(type, '')",
            _ => "type",
        };
        let before = usize::from(self.has_kind);
        let kind = slice.condition(kind, 1, self.has_kind);
        let (text, id) = (slice.parameter(before + 1), slice.parameter(before + 2));
        let search = match self.search {
            Search::None => String::new(),
            Search::Id => format!(" AND id = {text}"),
            Search::Name => format!("{} AND NOT id = {id}", begins_with("lower(name)", &text)),
        };
        let end = match self.has_end {
            true => slice.up_to(before + 3),
            false => String::new(),
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
        format!("SELECT {columns} FROM clients WHERE {first_party}{disabled}{kind}{search}{end}{page}")
    }
}

/// Returns the text of the statement that reads the key of the last client that a page searches.
fn last_sql(slice: PageSlice) -> String {
    slice.last_searched("lower(name), id", "clients")
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
    let slices = PageSlice::all(Search::Name.key()).into_iter();
    lists.chain(slices.map(|slice| (format!("{}::last {slice:?}", module_path!()), last_sql(slice))))
}
