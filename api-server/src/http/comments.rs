//! `/posts/{id}/comments`.

use super::etag_response;
use crate::error::{ApiError, precondition_failed};
use crate::extract::{CommentWriter, IdempotentRequest};
use crate::principal::Principal;
use crate::versions::Prefix;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use foundation::ids::Id;
use foundation::list_query::PageRequest;
use resources::comments::{self, Comment, CommentBody, ListQuery, NewComment};
use resources::idempotency::KeyValue;
use resources::posts::{self, VisiblePost};
use std::sync::Arc;
use storage::db::{Db, WriteTarget};
use web::etag::IfMatch;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// List the comments on a post
///
/// Returns the comments on a post that the caller may see, 20 per page. Unknown and invalid query parameters
/// are ignored.
#[utoipa::path(
    get, path = "/posts/{id}/comments", operation_id = "listComments", tag = "Comments",
    params(("id" = inline(Id), Path, description = "The id of the post."), ListQuery, PageRequest),
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
) -> Result<Response, ApiError> {
    let viewer = caller.and_then(|caller| caller.viewer());
    let post = posts::find_visible(&db, viewer, post.or_not_found()?).await?;
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = comments::list(&db, post, &query).await?;
    let url = policy.url(&prefix.path(&path(post)));
    Ok(list_response(page, &query.page, &url))
}

/// Comment on a post
///
/// Requires a post that the caller may see.
#[utoipa::path(
    post, path = "/posts/{id}/comments", operation_id = "createComment", tag = "Comments",
    request_body = NewComment,
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("Idempotency-Key" = inline(Option<KeyValue>), Header, description = "Identifies the call, so that a retry does not repeat it."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["comments:write"])),
    responses(
        (status = 201, description = "The comment.", body = Comment,
         headers(("Location"), ("ETag"), ("Idempotent-Replayed"))),
        IdempotentRequest, CommentWriter, PathId, JsonBody,
    )
)]
pub(crate) async fn create(
    request: IdempotentRequest,
    post: PathId,
    State(db): State<Db>,
    Authorized(CommentWriter(writer), body): Authorized<CommentWriter, JsonBody>,
) -> Result<Response, ApiError> {
    let post = posts::find_visible(&db, writer.principal.viewer(), post.or_not_found()?).await?;
    let new = read_new(&body)?;
    let write = async |target: &mut WriteTarget<'_>, now| {
        comments::create(target, post, writer.allowance, &new, now).await
    };
    let written = request.run(&writer, &body, write).await?;
    let comment = Comment::created(*written.receipt(), post.id(), writer.actor.user_id, new);
    let location = format!("{}/{}", path(post), comment.id);
    written.created(&location, Some(comment.etag()), &comment)
}

/// Read a comment
///
/// Requires a post that the caller may see.
#[utoipa::path(
    get, path = "/posts/{id}/comments/{comment_id}", operation_id = "readComment", tag = "Comments",
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("comment_id" = inline(Id), Path, description = "The id of the comment."),
        ("If-None-Match" = Option<String>, Header, description = "The entity tags of the cached responses."),
    ),
    security((), ("session" = []), ("oauth2" = [])),
    responses(
        (status = 200, description = "The comment.", body = Comment, headers(("ETag"), ("Cache-Control"), ("Vary"))),
        (status = 304, description = "The cached comment is current.", headers(("ETag"), ("Cache-Control"), ("Vary"))),
        Principal, PathId,
    )
)]
pub(crate) async fn read(
    caller: Option<Principal>,
    post: PathId,
    id: PathId<Id, 1>,
    State(db): State<Db>,
) -> Result<impl IntoResponse, ApiError> {
    let viewer = caller.and_then(|caller| caller.viewer());
    let post = posts::find_visible(&db, viewer, post.or_not_found()?).await?;
    let comment = comments::find(&db, post, id.or_not_found()?).await?;
    Ok(etag_response::with_revalidation(comment.etag(), comment))
}

/// Delete a comment
///
/// Allowed for the comment's author, editors and administrators. A comment has only one version, so
/// `If-Match` is rarely needed.
#[utoipa::path(
    delete, path = "/posts/{id}/comments/{comment_id}", operation_id = "deleteComment", tag = "Comments",
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("comment_id" = inline(Id), Path, description = "The id of the comment."),
        ("If-Match" = Option<String>, Header, description = "The entity tag, or `*`."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["comments:write"])),
    responses((status = 204, description = "The comment is deleted."), CommentWriter, PathId, code::PreconditionFailed)
)]
pub(crate) async fn delete(
    CommentWriter(writer): CommentWriter,
    post: PathId,
    id: PathId<Id, 1>,
    State(db): State<Db>,
    Context(context): Context,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let post = posts::find_visible(&db, writer.principal.viewer(), post.or_not_found()?).await?;
    let found = comments::find_to_delete(&db, writer.actor, post, id.or_not_found()?).await;
    let comment = found.map_err(|error| writer.principal.attribute(error))?;
    if IfMatch::check(&headers, &comment.etag()) == IfMatch::Fails {
        return Err(precondition_failed().into());
    }
    comments::delete(&db, &comment, context.now).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the path of a post's comments.
fn path(post: VisiblePost) -> String {
    format!("/posts/{}/comments", post.id())
}

fn read_new(body: &JsonBody) -> Result<NewComment, Error> {
    let mut fields = body.fields()?;
    let body = fields.required("body", CommentBody::parse);
    fields.finish(body.map(|body| NewComment { body }))
}
