//! Pages of posts. Each kind of list has its own SQL statement. It reads one or two slices of an index: the
//! posts of one status, of all authors or of one.

use super::actor::{self, Actor};
use super::fields::Status;
use super::post::{Post, columns};
use super::query::{ListQuery, Sort};
use foundation::clock::Timestamp;
use foundation::cursor::Cursor;
use foundation::list_query::Order;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error};
use storage::paging::{self, Page, PageSlice, Sorting};
use storage::{fetch_all, fetch_optional, sql};

sql! {
    // Deleted posts are included, so that paging continues after a post that was deleted meanwhile.
    ANCHOR = "SELECT title, author_id, status FROM posts WHERE id = $1 AND created_at = $2";
}

/// The condition for the posts on a list. It admits only posts that the viewer may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    All,
    WithStatus(Status),
    ByAuthor(i64),
    ByAuthorWithStatus(i64, Status),
    PublishedOrByAuthor(i64),
}

/// A part of a list: the posts of this status that are by the author in the statement's parameter, or by any
/// author.
#[derive(Clone, Copy, Debug)]
struct Part {
    status: Status,
    is_by_author: bool,
}

/// The sort key and id of the item after which a page begins.
enum Anchor {
    CreatedAt(Timestamp, i64),
    Title(String, i64),
}

/// The parameters that determine the SQL statement of a list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    filter: Filter,
    slice: PageSlice,
}

/// Returns the requested page of the posts that the viewer may see.
pub async fn list(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Page<Post>, Error> {
    let Some(filter) = Filter::new(viewer, query) else {
        return Ok(Page::empty());
    };
    let anchor = anchor(db, viewer, query).await?;
    let sorting = Sorting::by(query.sort().columns(), query.order());
    paging::read_page(query.page.direction, sorting, anchor, |slice, anchor| {
        fetch(db, ListStatement { filter, slice }, anchor)
    })
    .await
}

/// Returns the next posts of an author, including drafts, the oldest first, after this time of creation (in
/// microseconds) and id: one more than a page.
pub async fn of_author(db: &Db, author_id: i64, (created_at, id): (i64, i64)) -> Result<Vec<Post>, Error> {
    let statement = ListStatement {
        filter: Filter::ByAuthor(author_id),
        slice: PageSlice::of(Sorting::by(Sort::CreatedAt.columns(), Order::Ascending), true),
    };
    let anchor = Anchor::CreatedAt(Timestamp::from_micros(created_at), id);
    fetch(db, statement, Some(anchor)).await
}

/// Returns the anchor of the cursor; `None` for the beginning of the list. In a list sorted by title, a post
/// that the viewer may not see is no anchor, because the page would reveal how its title sorts.
async fn anchor(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Option<Anchor>, Error> {
    let Some(Cursor { created_at, id }) = query.page.cursor else {
        return Ok(None);
    };
    if query.sort() == Sort::CreatedAt {
        return Ok(Some(Anchor::CreatedAt(created_at, id)));
    }
    let row = fetch_optional!(db.reader(), (String, i64, Status), ANCHOR, id, created_at)?;
    Ok(row
        .filter(|(_, author_id, status)| actor::may_see(viewer, *author_id, *status))
        .map(|(title, ..)| Anchor::Title(title, id)))
}

async fn fetch(db: &Db, statement: ListStatement, anchor: Option<Anchor>) -> Result<Vec<Post>, Error> {
    let (on, sql) = (db.reader(), AssertSqlSafe(statement.sql()));
    match (anchor, statement.filter.author_id()) {
        (None, None) => fetch_all!(on, Post, sql),
        (None, Some(by)) => fetch_all!(on, Post, sql, by),
        (Some(Anchor::CreatedAt(at, id)), None) => fetch_all!(on, Post, sql, at, id),
        (Some(Anchor::CreatedAt(at, id)), Some(by)) => fetch_all!(on, Post, sql, at, id, by),
        (Some(Anchor::Title(title, id)), None) => fetch_all!(on, Post, sql, title, id),
        (Some(Anchor::Title(title, id)), Some(by)) => fetch_all!(on, Post, sql, title, id, by),
    }
}

impl Filter {
    /// Returns the filter for the requested posts that the viewer may see; `None` if there can be no such
    /// posts.
    fn new(viewer: Option<Actor>, query: &ListQuery) -> Option<Self> {
        let sees_drafts_of = |author_id| actor::may_see(viewer, author_id, Status::Draft);
        let by_author = |author_id, status: Option<Status>| match status {
            Some(status) => Self::ByAuthorWithStatus(author_id, status),
            None => Self::ByAuthor(author_id),
        };
        match (query.status, query.author_id, viewer) {
            (status, Some(author_id), _) if sees_drafts_of(author_id) => Some(by_author(author_id, status)),
            (Some(Status::Draft), Some(_), _) | (Some(Status::Draft), None, None) => None,
            (_, Some(author_id), _) => Some(Self::ByAuthorWithStatus(author_id, Status::Published)),
            (status, None, Some(viewer)) if viewer.is_moderator => {
                Some(status.map_or(Self::All, Self::WithStatus))
            }
            (Some(Status::Draft), None, Some(viewer)) => {
                Some(Self::ByAuthorWithStatus(viewer.user_id, Status::Draft))
            }
            (None, None, Some(viewer)) => Some(Self::PublishedOrByAuthor(viewer.user_id)),
            (_, None, _) => Some(Self::WithStatus(Status::Published)),
        }
    }

    /// Returns the author that is a parameter of the statement.
    const fn author_id(self) -> Option<i64> {
        match self {
            Self::All | Self::WithStatus(_) => None,
            Self::ByAuthor(author_id)
            | Self::ByAuthorWithStatus(author_id, _)
            | Self::PublishedOrByAuthor(author_id) => Some(author_id),
        }
    }

    /// Returns the one or two parts that make up the list.
    fn parts(self) -> Vec<Part> {
        let part = |status, is_by_author| Part { status, is_by_author };
        match self {
            Self::All => vec![part(Status::Published, false), part(Status::Draft, false)],
            Self::WithStatus(status) => vec![part(status, false)],
            Self::ByAuthor(_) => vec![part(Status::Published, true), part(Status::Draft, true)],
            Self::ByAuthorWithStatus(_, status) => vec![part(status, true)],
            Self::PublishedOrByAuthor(_) => vec![part(Status::Published, false), part(Status::Draft, true)],
        }
    }
}

impl ListStatement {
    fn sql(self) -> String {
        let parts = self.filter.parts();
        if let [part] = parts[..] {
            return self.select(part);
        }
        // Each part stops at the limit. One condition with OR would read the drafts of all users.
        let parts = parts
            .into_iter()
            .map(|part| format!("SELECT * FROM ({}) AS part", self.select(part)))
            .collect::<Vec<_>>();
        let end = self.slice.order_and_limit();
        format!("SELECT * FROM ({}) AS posts {end}", parts.join(" UNION ALL "))
    }

    /// Returns the statement that selects this slice of a part.
    fn select(self, Part { status, is_by_author }: Part) -> String {
        let author = self.slice.condition("author_id", 1, is_by_author);
        let (columns, status, page) = (columns!(), status.as_str(), self.slice.clauses());
        format!("SELECT {columns} FROM posts WHERE deleted_at IS NULL AND status = '{status}'{author}{page}")
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let filters = [
        Filter::All,
        Filter::WithStatus(Status::Draft),
        Filter::WithStatus(Status::Published),
        Filter::ByAuthor(1),
        Filter::ByAuthorWithStatus(1, Status::Draft),
        Filter::ByAuthorWithStatus(1, Status::Published),
        Filter::PublishedOrByAuthor(1),
    ];
    let lists = filters.into_iter().flat_map(|filter| {
        let slices = Sort::ALL
            .into_iter()
            .flat_map(|sort| PageSlice::all(sort.columns()));
        slices.map(move |slice| ListStatement { filter, slice })
    });
    lists.map(|statement| (format!("{}::{statement:?}", module_path!()), statement.sql()))
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
        Filter::new(viewer, &ListQuery::parse(query))
    }

    #[test]
    fn anonymous_viewers_see_published_posts() {
        assert_eq!(filter(None, ""), Some(Filter::WithStatus(Status::Published)));
        assert_eq!(
            filter(None, "author_id=1"),
            Some(Filter::ByAuthorWithStatus(1, Status::Published))
        );
        assert_eq!(filter(None, "status=draft"), None);
        assert_eq!(filter(None, "status=draft&author_id=1"), None);
    }

    #[test]
    fn users_see_their_own_drafts_too() {
        assert_eq!(filter(ANN, ""), Some(Filter::PublishedOrByAuthor(1)));
        assert_eq!(
            filter(ANN, "status=published"),
            Some(Filter::WithStatus(Status::Published))
        );
        assert_eq!(
            filter(ANN, "status=draft"),
            Some(Filter::ByAuthorWithStatus(1, Status::Draft))
        );
        assert_eq!(filter(ANN, "author_id=1"), Some(Filter::ByAuthor(1)));
        assert_eq!(
            filter(ANN, "author_id=1&status=draft"),
            Some(Filter::ByAuthorWithStatus(1, Status::Draft))
        );
        assert_eq!(
            filter(ANN, "author_id=9"),
            Some(Filter::ByAuthorWithStatus(9, Status::Published))
        );
        assert_eq!(filter(ANN, "author_id=9&status=draft"), None);
    }

    #[test]
    fn editors_see_all_posts() {
        assert_eq!(filter(EDITOR, ""), Some(Filter::All));
        assert_eq!(
            filter(EDITOR, "status=draft"),
            Some(Filter::WithStatus(Status::Draft))
        );
        assert_eq!(filter(EDITOR, "author_id=9"), Some(Filter::ByAuthor(9)));
        assert_eq!(
            filter(EDITOR, "author_id=9&status=draft"),
            Some(Filter::ByAuthorWithStatus(9, Status::Draft))
        );
    }
}
