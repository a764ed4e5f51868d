//! Pages of posts. Each shape of a list has an SQL text of its own, so that the right index serves it.

use super::actor::{self, Actor};
use super::cursor::Cursor;
use super::fields::Status;
use super::query::{Direction, ListQuery, Order, Sort};
use super::{Post, columns};
use shared::clock::Timestamp;
use shared::db::{Db, Error};
use shared::{fetch_all, fetch_optional, sql};
use sqlx::AssertSqlSafe;

/// Posts on a page.
const PAGE: usize = 20;

sql! {
    // Deleted posts included: a walk goes on past a post that went away under it.
    ANCHOR = "SELECT title, author_id, status FROM posts WHERE id = $1 AND created_at = $2";
}

/// A page of posts.
#[derive(Debug)]
pub(crate) struct Page {
    /// The posts, in the list's order.
    pub(crate) items: Vec<Post>,
    /// Whether nothing comes before it.
    pub(crate) is_first: bool,
}

/// Which posts, of those that the viewer may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    All,
    Of(Status),
    By(i64),
    OfBy(Status, i64),
    PublishedOrBy(i64),
}

/// Where in the sorted list to go on from.
enum Anchor {
    CreatedAt(Timestamp, i64),
    Title(String, i64),
}

/// One SQL text.
#[derive(Clone, Copy, Debug)]
struct Shape {
    filter: Filter,
    sort: Sort,
    order: Order,
    is_anchored: bool,
}

#[derive(sqlx::FromRow)]
struct AnchorRow {
    title: String,
    author_id: i64,
    #[sqlx(try_from = "String")]
    status: Status,
}

impl Page {
    fn new(mut items: Vec<Post>, is_first: bool) -> Self {
        items.truncate(PAGE);
        Self { items, is_first }
    }

    /// Where the next page begins: after the last post of a full page.
    pub(crate) fn next(&self) -> Option<Cursor> {
        let last = self.items.last().map(Cursor::from);
        last.filter(|_| self.items.len() == PAGE)
    }
}

/// The page of posts that the query asks for, of those that the viewer may see.
pub(crate) async fn list(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Page, Error> {
    let Some(filter) = Filter::of(viewer, query) else {
        return Ok(Page::new(Vec::new(), true));
    };
    if let Some(anchor) = anchor(db, viewer, query).await? {
        let items = fetch(db, filter, query, Some(&anchor)).await?;
        if query.direction == Direction::Next {
            return Ok(Page::new(items, false));
        }
        // With nothing before it, a page backwards is the first, and that is a whole one.
        if items.len() > PAGE {
            let mut page = Page::new(items, false);
            page.items.reverse();
            return Ok(page);
        }
    }
    Ok(Page::new(fetch(db, filter, query, None).await?, true))
}

/// Where the cursor points; `None` is the list's beginning. By title, only a post that the viewer may see
/// is an anchor: a hidden one would tell where its title sorts.
async fn anchor(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Option<Anchor>, Error> {
    let Some(Cursor { created_at, id }) = query.cursor else {
        return Ok(None);
    };
    if query.sort() == Sort::CreatedAt {
        return Ok(Some(Anchor::CreatedAt(created_at, id)));
    }
    let row = fetch_optional!(db.reader(), AnchorRow, ANCHOR, id, created_at)?;
    Ok(row
        .filter(|row| actor::sees(viewer, row.author_id, row.status))
        .map(|row| Anchor::Title(row.title, id)))
}

/// The posts of a page, and the one beyond it.
async fn fetch(
    db: &Db,
    filter: Filter,
    query: &ListQuery,
    anchor: Option<&Anchor>,
) -> Result<Vec<Post>, Error> {
    let is_backwards = anchor.is_some() && query.direction == Direction::Prev;
    let shape = Shape {
        filter,
        sort: query.sort(),
        order: if is_backwards {
            query.order().reversed()
        } else {
            query.order()
        },
        is_anchored: anchor.is_some(),
    };
    let (on, sql) = (db.reader(), AssertSqlSafe(shape.sql()));
    match (anchor, filter.author_id()) {
        (None, None) => fetch_all!(on, Post, sql),
        (None, Some(by)) => fetch_all!(on, Post, sql, by),
        (Some(Anchor::CreatedAt(at, id)), None) => fetch_all!(on, Post, sql, at, id),
        (Some(Anchor::CreatedAt(at, id)), Some(by)) => fetch_all!(on, Post, sql, at, id, by),
        (Some(Anchor::Title(title, id)), None) => fetch_all!(on, Post, sql, title.as_str(), id),
        (Some(Anchor::Title(title, id)), Some(by)) => fetch_all!(on, Post, sql, title.as_str(), id, by),
    }
}

impl Filter {
    /// What the query asks for and the viewer may see; `None` is nothing at all.
    fn of(viewer: Option<Actor>, query: &ListQuery) -> Option<Self> {
        let sees_drafts_of = |author_id| actor::sees(viewer, author_id, Status::Draft);
        let of_by = |status: Option<Status>, author_id| match status {
            Some(status) => Self::OfBy(status, author_id),
            None => Self::By(author_id),
        };
        match (query.status, query.author_id, viewer) {
            (status, Some(author_id), _) if sees_drafts_of(author_id) => Some(of_by(status, author_id)),
            (Some(Status::Draft), Some(_), _) | (Some(Status::Draft), None, None) => None,
            (_, Some(author_id), _) => Some(Self::OfBy(Status::Published, author_id)),
            (status, None, Some(viewer)) if viewer.is_moderator => Some(status.map_or(Self::All, Self::Of)),
            (Some(Status::Draft), None, Some(viewer)) => Some(Self::OfBy(Status::Draft, viewer.user_id)),
            (None, None, Some(viewer)) => Some(Self::PublishedOrBy(viewer.user_id)),
            (_, None, _) => Some(Self::Of(Status::Published)),
        }
    }

    const fn author_id(self) -> Option<i64> {
        match self {
            Self::All | Self::Of(_) => None,
            Self::By(author_id) | Self::OfBy(_, author_id) | Self::PublishedOrBy(author_id) => {
                Some(author_id)
            }
        }
    }
}

impl Shape {
    fn sql(self) -> String {
        let (key, order) = (self.sort.as_str(), self.order.as_str());
        let beyond = match self.order {
            Order::Ascending => '>',
            Order::Descending => '<',
        };
        let (anchor, author) = match self.is_anchored {
            true => (format!(" AND ({key}, id) {beyond} ($1, $2)"), "$3"),
            false => (String::new(), "$1"),
        };
        let (columns, limit) = (columns!(), PAGE + 1);
        let end = format!("ORDER BY {key} {order}, id {order} LIMIT {limit}");
        let select = |filter: String| {
            format!("SELECT {columns} FROM posts WHERE deleted_at IS NULL{filter}{anchor} {end}")
        };
        match self.filter {
            Filter::All => select(String::new()),
            Filter::Of(status) => select(format!(" AND status = '{}'", status.as_str())),
            Filter::By(_) => select(format!(" AND author_id = {author}")),
            Filter::OfBy(status, _) => select(format!(
                " AND author_id = {author} AND status = '{}'",
                status.as_str()
            )),
            // Two scans that end early, each by its index: one condition with OR would read everyone's drafts.
            Filter::PublishedOrBy(_) => {
                let published = select(" AND status = 'published'".to_owned());
                let drafts = select(format!(" AND author_id = {author} AND status = 'draft'"));
                format!(
                    "SELECT * FROM (SELECT * FROM ({published}) AS published
                     UNION ALL SELECT * FROM ({drafts}) AS drafts) AS posts {end}"
                )
            }
        }
    }
}

/// Every statement of this module with its name.
pub(super) fn statements() -> impl Iterator<Item = (String, String)> {
    let filters = [
        Filter::All,
        Filter::Of(Status::Draft),
        Filter::Of(Status::Published),
        Filter::By(1),
        Filter::OfBy(Status::Draft, 1),
        Filter::OfBy(Status::Published, 1),
        Filter::PublishedOrBy(1),
    ];
    let lists = filters.into_iter().flat_map(|filter| {
        let sorts = Sort::ALL
            .into_iter()
            .flat_map(|sort| Order::ALL.map(|order| (sort, order)));
        sorts.flat_map(move |(sort, order)| {
            [false, true].map(|is_anchored| Shape {
                filter,
                sort,
                order,
                is_anchored,
            })
        })
    });
    let fixed = STATEMENTS
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    fixed.chain(lists.map(|shape| (format!("{}::{shape:?}", module_path!()), shape.sql())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: Option<Actor> = Some(Actor {
        user_id: 1,
        is_moderator: false,
    });
    const EDITOR: Option<Actor> = Some(Actor {
        user_id: 2,
        is_moderator: true,
    });

    fn filter(viewer: Option<Actor>, query: &str) -> Option<Filter> {
        Filter::of(viewer, &ListQuery::parse(query))
    }

    #[test]
    fn nobody_sees_what_is_published() {
        assert_eq!(filter(None, ""), Some(Filter::Of(Status::Published)));
        assert_eq!(
            filter(None, "author_id=1"),
            Some(Filter::OfBy(Status::Published, 1))
        );
        assert_eq!(filter(None, "status=draft"), None);
        assert_eq!(filter(None, "status=draft&author_id=1"), None);
    }

    #[test]
    fn a_user_sees_their_own_drafts_too() {
        assert_eq!(filter(ANN, ""), Some(Filter::PublishedOrBy(1)));
        assert_eq!(
            filter(ANN, "status=published"),
            Some(Filter::Of(Status::Published))
        );
        assert_eq!(filter(ANN, "status=draft"), Some(Filter::OfBy(Status::Draft, 1)));
        assert_eq!(filter(ANN, "author_id=1"), Some(Filter::By(1)));
        assert_eq!(
            filter(ANN, "author_id=1&status=draft"),
            Some(Filter::OfBy(Status::Draft, 1))
        );
        assert_eq!(
            filter(ANN, "author_id=9"),
            Some(Filter::OfBy(Status::Published, 9))
        );
        assert_eq!(filter(ANN, "author_id=9&status=draft"), None);
    }

    #[test]
    fn an_editor_sees_all() {
        assert_eq!(filter(EDITOR, ""), Some(Filter::All));
        assert_eq!(filter(EDITOR, "status=draft"), Some(Filter::Of(Status::Draft)));
        assert_eq!(filter(EDITOR, "author_id=9"), Some(Filter::By(9)));
        assert_eq!(
            filter(EDITOR, "author_id=9&status=draft"),
            Some(Filter::OfBy(Status::Draft, 9))
        );
    }
}
