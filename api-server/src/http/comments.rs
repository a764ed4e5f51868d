//! `/posts/{id}/comments`.

use super::envelope::{self, Envelope};
use super::tagged;
use crate::comments::{self, Comment, CommentBody, ListQuery, NewComment};
use crate::error::precondition_failed;
use crate::extract::{Commenter, Once, PathId, Principal};
use crate::idempotency::{Key, Reply};
use crate::ids::Id;
use crate::paging::Walk;
use crate::posts::{self, Seen};
use crate::versions::Prefix;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use shared::db::Db;
use shared::events::Context;
use shared::http::etag::IfMatch;
use shared::http::openapi::refusals::code;
use shared::http::{Error, JsonBody, Policy};
use std::sync::Arc;

/// List the comments on a post
///
/// Whoever sees the post sees its comments, twenty a page. What is not understood in the query is ignored.
#[utoipa::path(
    get, path = "/posts/{id}/comments", operation_id = "listComments", tag = "Comments",
    params(("id" = inline(Id), Path, description = "Which post."), ListQuery, Walk),
    security((), ("session" = []), ("oauth2" = [])),
    responses(
        (status = 200, description = "A page.", body = Envelope<Comment>, headers(("Link"))),
        Principal, PathId,
    )
)]
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
        &policy.url(&prefix.path(&path(post))),
    ))
}

/// Comment on a post
///
/// By who sees the post.
#[utoipa::path(
    post, path = "/posts/{id}/comments", operation_id = "createComment", tag = "Comments",
    request_body = NewComment,
    params(
        ("id" = inline(Id), Path, description = "Which post."),
        ("Idempotency-Key" = inline(Option<Key>), Header, description = "Names the call, which is then done once."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["comments:write"])),
    responses(
        (status = 201, description = "The comment.", body = Comment,
         headers(("Location"), ("ETag"), ("Idempotent-Replayed"))),
        Once, Commenter, PathId, JsonBody,
    )
)]
pub(crate) async fn create(
    once: Once,
    Commenter(author): Commenter,
    post: PathId,
    State(db): State<Db>,
    body: JsonBody,
) -> Result<Response, Error> {
    let post = posts::see(&db, author.reader(), post.found()?).await?;
    let new = read_new(&body)?;
    let now = once.now();
    once.run(&author, &body, async |tx| {
        let comment = comments::create(tx, post, author.actor, &new, now).await?;
        let location = format!("{}/{}", path(post), comment.id);
        Ok(Reply::created(location, &comment)?.tagged(comment.etag()))
    })
    .await
}

/// Read a comment
///
/// Whoever sees the post sees it.
#[utoipa::path(
    get, path = "/posts/{id}/comments/{comment_id}", operation_id = "readComment", tag = "Comments",
    params(
        ("id" = inline(Id), Path, description = "On which post."),
        ("comment_id" = inline(Id), Path, description = "Which comment."),
        ("If-None-Match" = Option<String>, Header, description = "The entity tags that the caller has."),
    ),
    security((), ("session" = []), ("oauth2" = [])),
    responses(
        (status = 200, description = "The comment.", body = Comment, headers(("ETag"), ("Cache-Control"), ("Vary"))),
        (status = 304, description = "The caller has it.", headers(("ETag"), ("Cache-Control"), ("Vary"))),
        Principal, PathId,
    )
)]
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

/// Delete a comment
///
/// By its author, editors and administrators. A comment has one version, so `If-Match` is rarely of use.
#[utoipa::path(
    delete, path = "/posts/{id}/comments/{comment_id}", operation_id = "deleteComment", tag = "Comments",
    params(
        ("id" = inline(Id), Path, description = "On which post."),
        ("comment_id" = inline(Id), Path, description = "Which comment."),
        ("If-Match" = Option<String>, Header, description = "The entity tag, or `*`."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["comments:write"])),
    responses((status = 204, description = "It is gone."), Commenter, PathId, code::PreconditionFailed)
)]
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
fn path(post: Seen) -> String {
    format!("/posts/{}/comments", post.id())
}

fn read_new(body: &JsonBody) -> Result<NewComment, Error> {
    let mut fields = body.fields()?;
    let body = fields.required("body", CommentBody::parse);
    fields.finish(body.map(|body| NewComment { body }))
}
