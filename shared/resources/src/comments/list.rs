//! Pages of a post's comments. Each kind of list has its own SQL statement, so that the database uses the
//! matching index.

use super::comment::{Comment, columns};
use crate::posts::VisiblePost;
use foundation::list_query::{Order, PageRequest, Query};
use sqlx::AssertSqlSafe;
use storage::db::{Db, Error};
use storage::fetch_all;
use storage::paging::{self, Page, PageSlice, Sorting};
use utoipa::IntoParams;

/// The columns by which the lists are sorted.
const KEY: &[&str] = &["created_at", "id"];

/// The query parameters of the list of comments.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only comments of this user.
    #[param(minimum = 0)]
    author_id: Option<i64>,
    /// The requested page.
    #[param(ignore)]
    pub page: PageRequest,
}

/// The parameters that determine the SQL statement of a list.
#[derive(Clone, Copy, Debug)]
struct ListStatement {
    is_by_author: bool,
    slice: PageSlice,
}

impl ListQuery {
    /// Parses a query string. Ignores unknown parameters and invalid values.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            author_id: query.number("author_id"),
            page: query.page_request(),
        }
    }
}

/// Returns the requested page of the post's comments, the newest first by default.
pub async fn list(db: &Db, post: VisiblePost, query: &ListQuery) -> Result<Page<Comment>, Error> {
    let (page, author_id, post) = (&query.page, query.author_id, post.id());
    let sorting = Sorting::by(KEY, page.order.unwrap_or(Order::Descending));
    paging::read_page(page.direction, sorting, page.cursor, |slice, anchor| async move {
        let is_by_author = author_id.is_some();
        let sql = AssertSqlSafe(ListStatement { is_by_author, slice }.sql());
        let on = db.reader();
        match (anchor, author_id) {
            (None, None) => fetch_all!(on, Comment, sql, post),
            (None, Some(by)) => fetch_all!(on, Comment, sql, post, by),
            (Some(at), None) => fetch_all!(on, Comment, sql, at.created_at, at.id, post),
            (Some(at), Some(by)) => fetch_all!(on, Comment, sql, at.created_at, at.id, post, by),
        }
    })
    .await
}

impl ListStatement {
    fn sql(self) -> String {
        let (columns, post) = (columns!(), self.slice.parameter(1));
        let author = self.slice.condition("author_id", 2, self.is_by_author);
        let page = self.slice.clauses();
        format!("SELECT {columns} FROM comments WHERE deleted_at IS NULL AND post_id = {post}{author}{page}")
    }
}

/// Returns the names and texts of the list statements.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let statements = PageSlice::all(KEY)
        .into_iter()
        .flat_map(|slice| [false, true].map(|is_by_author| ListStatement { is_by_author, slice }));
    statements.map(|statement| (format!("{}::{statement:?}", module_path!()), statement.sql()))
}
