//! `/posts/{id}/comments`.

use super::{envelope, tagged};
use crate::comments::{self, Comment, CommentBody, ListQuery};
use crate::error::precondition_failed;
use crate::extract::{Commenter, PathId, Principal};
use crate::posts::{self, Seen};
use crate::versions::Prefix;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::db::Db;
use shared::events::Context;
use shared::http::etag::IfMatch;
use shared::http::{Error, JsonBody, Policy};
use std::sync::Arc;

/// `GET /posts/{id}/comments`: a page; public, as far as the post is.
pub(crate) async fn list(
    caller: Option<Principal>,
    post: PathId,
    prefix: Prefix,
    State(db): State<Db>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let viewer = caller.and_then(|caller| caller.reader());
    let post = posts::see(&db, viewer, post.found()?).await?;
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = comments::list(&db, post, &query).await?;
    Ok(envelope::show(
        page,
        &query.walk,
        &policy.url(&path(prefix, post)),
    ))
}

/// `POST /posts/{id}/comments`: 201.
pub(crate) async fn create(
    Commenter(author): Commenter,
    post: PathId,
    prefix: Prefix,
    State(db): State<Db>,
    Extension(context): Extension<Context>,
    body: JsonBody,
) -> Result<impl IntoResponse, Error> {
    let post = posts::see(&db, author.reader(), post.found()?).await?;
    let body = read_new(&body)?;
    let comment = comments::create(&db, post, author.actor, &body, context.now).await?;
    let location = [(header::LOCATION, format!("{}/{}", path(prefix, post), comment.id))];
    Ok((StatusCode::CREATED, location, show(comment)))
}

/// `GET /posts/{id}/comments/{comment_id}`: public, as far as the post is.
pub(crate) async fn read(
    caller: Option<Principal>,
    post: PathId,
    id: PathId<1>,
    State(db): State<Db>,
) -> Result<impl IntoResponse, Error> {
    let viewer = caller.and_then(|caller| caller.reader());
    let post = posts::see(&db, viewer, post.found()?).await?;
    let comment = comments::find(&db, post, id.found()?).await?;
    Ok(tagged::revalidated(comment.etag(), comment))
}

/// `DELETE /posts/{id}/comments/{comment_id}`: 204; `If-Match` may be sent.
pub(crate) async fn delete(
    Commenter(author): Commenter,
    post: PathId,
    id: PathId<1>,
    State(db): State<Db>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<StatusCode, Error> {
    let post = posts::see(&db, author.reader(), post.found()?).await?;
    let found = comments::find_to_delete(&db, author.actor, post, id.found()?).await;
    let comment = found.map_err(|error| author.refused(error))?;
    let if_match = IfMatch::read(&headers);
    if if_match != IfMatch::Missing && !if_match.matches(&comment.etag()) {
        return Err(precondition_failed());
    }
    comments::delete(&db, &comment, context.now).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where a post's comments are.
fn path(prefix: Prefix, post: Seen) -> String {
    prefix.path(&format!("/posts/{}/comments", post.id()))
}

/// A comment and its entity tag.
fn show(comment: Comment) -> impl IntoResponse {
    tagged::show(comment.etag(), comment)
}

fn read_new(body: &JsonBody) -> Result<CommentBody, Error> {
    let mut fields = body.fields()?;
    let text = fields.required("body", CommentBody::parse);
    fields.finish(text)
}
