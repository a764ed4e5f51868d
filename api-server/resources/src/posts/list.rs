//! Pages of posts. Each kind of list has its own SQL statement, so that the database uses the matching index.

use super::actor::{self, Actor};
use super::fields::Status;
use super::post::{Post, columns};
use super::query::{ListQuery, Sort};
use crate::paging::{self, Cursor, Page, PageSlice};
use foundation::clock::Timestamp;
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error};
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

/// The sort key and id of the item after which a page begins.
enum Anchor {
    CreatedAt(Timestamp, i64),
    Title(String, i64),
}

/// The parameters that determine the SQL statement of a list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    filter: Filter,
    sort: Sort,
    slice: PageSlice,
}

#[derive(sqlx::FromRow)]
struct AnchorRow {
    title: String,
    author_id: i64,
    #[sqlx(try_from = "String")]
    status: Status,
}

/// Returns the requested page of the posts that the viewer may see.
pub async fn list(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Page<Post>, Error> {
    let Some(filter) = Filter::new(viewer, query) else {
        return Ok(Page::empty());
    };
    let (sort, anchor) = (query.sort(), anchor(db, viewer, query).await?);
    let statement = |slice| ListStatement { filter, sort, slice };
    paging::read_page(query.page.direction, query.order(), anchor, |slice, anchor| {
        fetch(db, statement(slice), anchor)
    })
    .await
}

/// Returns the anchor of the cursor; `None` for the beginning of the list. In a list sorted by title, a post that
/// the viewer may not see is no anchor, because the page would reveal how its title sorts.
async fn anchor(db: &Db, viewer: Option<Actor>, query: &ListQuery) -> Result<Option<Anchor>, Error> {
    let Some(Cursor { created_at, id }) = query.page.cursor else {
        return Ok(None);
    };
    if query.sort() == Sort::CreatedAt {
        return Ok(Some(Anchor::CreatedAt(created_at, id)));
    }
    let row = fetch_optional!(db.reader(), AnchorRow, ANCHOR, id, created_at)?;
    Ok(row
        .filter(|row| actor::may_see(viewer, row.author_id, row.status))
        .map(|row| Anchor::Title(row.title, id)))
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
    /// Returns the filter for the requested posts that the viewer may see; `None` if there can be no such posts.
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
}

impl ListStatement {
    fn sql(self) -> String {
        let (columns, author) = (columns!(), self.slice.parameter(1));
        let (after, end) = (
            self.slice.anchor_condition(self.sort),
            self.slice.order_and_limit(self.sort),
        );
        let select = |filter: String| {
            format!("SELECT {columns} FROM posts WHERE deleted_at IS NULL{filter}{after} {end}")
        };
        match self.filter {
            Filter::All => select(String::new()),
            Filter::WithStatus(status) => select(format!(" AND status = '{}'", status.as_str())),
            Filter::ByAuthor(_) => select(format!(" AND author_id = {author}")),
            Filter::ByAuthorWithStatus(_, status) => select(format!(
                " AND author_id = {author} AND status = '{}'",
                status.as_str()
            )),
            // Two index scans that stop at the limit. One condition with OR would read the drafts of all users.
            Filter::PublishedOrByAuthor(_) => {
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
        let sorts = Sort::ALL
            .into_iter()
            .flat_map(|sort| PageSlice::ALL.map(|slice| (sort, slice)));
        sorts.map(move |(sort, slice)| ListStatement { filter, sort, slice })
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
