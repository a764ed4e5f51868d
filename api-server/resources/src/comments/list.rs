//! Pages of a post's comments. Each shape of a list has an SQL text of its own, so that the right index
//! serves it.

use super::comment::{Comment, columns};
use crate::paging::{self, Cursor, Order, Page, PageRequest, PageSlice, Query};
use crate::posts::VisiblePost;
use shared::db::{Db, Error};
use shared::fetch_all;
use sqlx::AssertSqlSafe;
use utoipa::IntoParams;

/// What a list of comments is asked for.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Comments of this user alone.
    #[param(minimum = 0)]
    author_id: Option<i64>,
    /// Which page.
    #[param(ignore)]
    pub page: PageRequest,
}

/// One SQL text.
#[derive(Clone, Copy, Debug)]
struct Shape {
    is_by_author: bool,
    slice: PageSlice,
}

impl ListQuery {
    /// Reads a query string.
    pub fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            author_id: query.author_id(),
            page: query.page_request(),
        }
    }
}

/// The page of the post's comments that the query asks for; the newest come first unless told otherwise.
pub async fn list(db: &Db, post: VisiblePost, query: &ListQuery) -> Result<Page<Comment>, Error> {
    let page = &query.page;
    let order = page.order.unwrap_or(Order::Descending);
    paging::read_page(page.direction, order, page.cursor, |slice, anchor| {
        fetch(db, post, query.author_id, slice, anchor)
    })
    .await
}

async fn fetch(
    db: &Db,
    post: VisiblePost,
    author_id: Option<i64>,
    slice: PageSlice,
    anchor: Option<Cursor>,
) -> Result<Vec<Comment>, Error> {
    let shape = Shape {
        is_by_author: author_id.is_some(),
        slice,
    };
    let (on, sql, post) = (db.reader(), AssertSqlSafe(shape.sql()), post.id());
    match (anchor, author_id) {
        (None, None) => fetch_all!(on, Comment, sql, post),
        (None, Some(by)) => fetch_all!(on, Comment, sql, post, by),
        (Some(at), None) => fetch_all!(on, Comment, sql, at.created_at, at.id, post),
        (Some(at), Some(by)) => fetch_all!(on, Comment, sql, at.created_at, at.id, post, by),
    }
}

impl Shape {
    fn sql(self) -> String {
        let (columns, post) = (columns!(), self.slice.parameter(1));
        let author = match self.is_by_author {
            true => format!(" AND author_id = {}", self.slice.parameter(2)),
            false => String::new(),
        };
        let (after, end) = (
            self.slice.anchor_condition("created_at"),
            self.slice.order_and_limit("created_at"),
        );
        format!(
            "SELECT {columns} FROM comments WHERE post_id = {post} AND deleted_at IS NULL{author}{after} {end}"
        )
    }
}

/// Every statement of this module with its name.
pub(crate) fn statements() -> impl Iterator<Item = (String, String)> {
    let shapes = PageSlice::ALL
        .into_iter()
        .flat_map(|slice| [false, true].map(|is_by_author| Shape { is_by_author, slice }));
    shapes.map(|shape| (format!("{}::{shape:?}", module_path!()), shape.sql()))
}
