//! Pages of a post's comments. Each shape of a list has an SQL text of its own, so that the right index
//! serves it.

use super::{Comment, columns};
use crate::paging::{self, Cursor, Order, Page, Query, Stretch, Walk};
use crate::posts::Seen;
use shared::db::{Db, Error};
use shared::fetch_all;
use sqlx::AssertSqlSafe;
use utoipa::IntoParams;

/// What a list of comments is asked for.
#[derive(Clone, Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Comments of this user alone.
    #[param(minimum = 0)]
    author_id: Option<i64>,
    /// Which page.
    #[param(ignore)]
    pub(crate) walk: Walk,
}

/// One SQL text.
#[derive(Clone, Copy, Debug)]
struct Shape {
    is_by_author: bool,
    stretch: Stretch,
}

impl ListQuery {
    /// Reads a query string.
    pub(crate) fn parse(query: &str) -> Self {
        let mut query = Query::read(query);
        Self {
            author_id: query.author_id(),
            walk: query.walk(),
        }
    }
}

/// The page of the post's comments that the query asks for; the newest come first unless told otherwise.
pub(crate) async fn list(db: &Db, post: Seen, query: &ListQuery) -> Result<Page<Comment>, Error> {
    let walk = &query.walk;
    let order = walk.order.unwrap_or(Order::Descending);
    paging::read(walk.direction, order, walk.cursor, |stretch, anchor| {
        fetch(db, post, query.author_id, stretch, anchor)
    })
    .await
}

async fn fetch(
    db: &Db,
    post: Seen,
    author_id: Option<i64>,
    stretch: Stretch,
    anchor: Option<Cursor>,
) -> Result<Vec<Comment>, Error> {
    let shape = Shape {
        is_by_author: author_id.is_some(),
        stretch,
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
        let (columns, post) = (columns!(), self.stretch.parameter(1));
        let author = match self.is_by_author {
            true => format!(" AND author_id = {}", self.stretch.parameter(2)),
            false => String::new(),
        };
        let (beyond, end) = (self.stretch.beyond("created_at"), self.stretch.end("created_at"));
        format!(
            "SELECT {columns} FROM comments WHERE post_id = {post} AND deleted_at IS NULL{author}{beyond} {end}"
        )
    }
}

/// Every statement of this module with its name.
pub(super) fn statements() -> impl Iterator<Item = (String, String)> {
    let shapes = Stretch::ALL.into_iter().flat_map(|stretch| {
        [false, true].map(|is_by_author| Shape {
            is_by_author,
            stretch,
        })
    });
    shapes.map(|shape| (format!("{}::{shape:?}", module_path!()), shape.sql()))
}
