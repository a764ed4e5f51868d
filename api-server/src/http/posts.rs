//! `/posts`.

use super::etag_response;
use crate::error::{ApiError, precondition_failed, precondition_required};
use crate::extract::{IdempotentRequest, PostWriter};
use crate::principal::Principal;
use crate::versions::Prefix;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use foundation::ids::Id;
use foundation::list_query::PageRequest;
use resources::idempotency::KeyValue;
use resources::posts::{self, ListQuery, NewPost, Post, PostBody, PostPatch, PostTitle, Status};
use std::sync::Arc;
use storage::db::{Db, WriteTarget};
use web::body::LARGE_LIMIT;
use web::etag::IfMatch;
use web::openapi::error_responses::code;
use web::{Authorized, Context, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// List posts
///
/// Returns the posts that the caller may see, 20 per page. Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = "/posts", operation_id = "listPosts", tag = "Posts", params(ListQuery, PageRequest),
    security(("session" = []), ("oauth2" = ["posts:read"])),
    responses(
        (status = 200, description = "A page.", body = Envelope<Post>, headers(("Link"))),
        Principal, code::InsufficientScope,
    )
)]
pub(crate) async fn list(
    caller: Principal,
    prefix: Prefix,
    State(db): State<Db>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    caller.require("posts:read")?;
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = posts::list(&db, caller.viewer(), &query).await?;
    let url = policy.url(&prefix.path("/posts"));
    Ok(list_response(page, &query.page, &url))
}

/// Write a post
///
/// The post is a draft unless its status is `published`.
#[utoipa::path(
    post, path = "/posts", operation_id = "createPost", tag = "Posts", request_body = NewPost,
    params(("Idempotency-Key" = inline(Option<KeyValue>), Header, description = "Identifies the call, so that a retry does not repeat it.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["posts:write"])),
    responses(
        (status = 201, description = "The post.", body = Post,
         headers(("Location"), ("ETag"), ("Idempotent-Replayed"))),
        IdempotentRequest, PostWriter, JsonBody<LARGE_LIMIT>,
    )
)]
pub(crate) async fn create(
    request: IdempotentRequest,
    Authorized(PostWriter(writer), body): Authorized<PostWriter, JsonBody<LARGE_LIMIT>>,
) -> Result<Response, ApiError> {
    let new = read_new(&body)?;
    let write =
        async |target: &mut WriteTarget<'_>, now| posts::create(target, writer.allowance, &new, now).await;
    let written = request.run(&writer, &body, write).await?;
    let post = Post::created(*written.receipt(), writer.actor.user_id, new);
    written.created(&format!("/posts/{}", post.id), Some(post.etag()), &post)
}

/// Read a post
///
/// Every caller may read a published post. A draft can be read only by callers who may change it.
#[utoipa::path(
    get, path = "/posts/{id}", operation_id = "readPost", tag = "Posts",
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("If-None-Match" = Option<String>, Header, description = "The entity tags of the cached responses."),
    ),
    security((), ("session" = []), ("oauth2" = [])),
    responses(
        (status = 200, description = "The post.", body = Post, headers(("ETag"), ("Cache-Control"), ("Vary"))),
        (status = 304, description = "The cached version is current.", headers(("ETag"), ("Cache-Control"), ("Vary"))),
        Principal, PathId,
    )
)]
pub(crate) async fn read(
    caller: Option<Principal>,
    id: PathId,
    State(db): State<Db>,
) -> Result<impl IntoResponse, ApiError> {
    let viewer = caller.and_then(|caller| caller.viewer());
    let post = posts::find(&db, viewer, id.or_not_found()?).await?;
    Ok(etag_response::with_revalidation(post.etag(), post))
}

/// Change a post
///
/// Changes the post if it is at the version in `If-Match`. Members that the body leaves out stay unchanged.
/// Allowed for the post's author, editors and administrators.
#[utoipa::path(
    patch, path = "/posts/{id}", operation_id = "updatePost", tag = "Posts", request_body = PostPatch,
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("If-Match" = inline(IfMatch), Header, description = "The entity tag of the version to change, or `*`."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["posts:write"])),
    responses(
        (status = 200, description = "The changed post.", body = Post, headers(("ETag"))),
        PostWriter, PathId, JsonBody<LARGE_LIMIT>, code::PreconditionFailed, code::PreconditionRequired,
        code::StorageQuotaExceeded,
    )
)]
pub(crate) async fn update(
    id: PathId,
    State(db): State<Db>,
    Context(context): Context,
    headers: HeaderMap,
    Authorized(PostWriter(writer), body): Authorized<PostWriter, JsonBody<LARGE_LIMIT>>,
) -> Result<impl IntoResponse, ApiError> {
    let found = posts::find_to_change(&db, writer.actor, id.or_not_found()?).await;
    let post = found.map_err(|error| writer.principal.attribute(error))?;
    match IfMatch::check(&headers, &post.etag()) {
        IfMatch::Missing => return Err(precondition_required().into()),
        IfMatch::Fails => return Err(precondition_failed().into()),
        IfMatch::Any | IfMatch::Holds => {}
    }
    let patch = read_patch(&body)?;
    let changed = posts::update(&db, writer.allowance, post, patch, context.now).await?;
    Ok(etag_response::with_etag(changed.etag(), changed))
}

/// Delete a post
///
/// With `If-Match`, deletes the post only at that version. Allowed for the post's author, editors and
/// administrators.
#[utoipa::path(
    delete, path = "/posts/{id}", operation_id = "deletePost", tag = "Posts",
    params(
        ("id" = inline(Id), Path, description = "The id of the post."),
        ("If-Match" = Option<String>, Header, description = "The entity tag of the version to delete, or `*`."),
    ),
    security(("session" = [], "csrf" = []), ("oauth2" = ["posts:write"])),
    responses((status = 204, description = "The post is deleted."), PostWriter, PathId, code::PreconditionFailed)
)]
pub(crate) async fn delete(
    PostWriter(writer): PostWriter,
    id: PathId,
    State(db): State<Db>,
    Context(context): Context,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let found = posts::find_to_change(&db, writer.actor, id.or_not_found()?).await;
    let post = found.map_err(|error| writer.principal.attribute(error))?;
    match IfMatch::check(&headers, &post.etag()) {
        IfMatch::Missing | IfMatch::Any => posts::delete(&db, &post, context.now).await?,
        IfMatch::Holds => posts::delete_version(&db, &post, context.now).await?,
        IfMatch::Fails => return Err(precondition_failed().into()),
    }
    Ok(StatusCode::NO_CONTENT)
}

fn read_new(body: &JsonBody<LARGE_LIMIT>) -> Result<NewPost, Error> {
    let mut fields = body.fields()?;
    let title = fields.required("title", PostTitle::parse);
    let body = fields.optional("body", PostBody::parse).unwrap_or_default();
    let status = fields.optional("status", str::parse::<Status>);
    let status = status.unwrap_or_default();
    fields.finish(title.map(|title| NewPost { title, body, status }))
}

fn read_patch(body: &JsonBody<LARGE_LIMIT>) -> Result<PostPatch, Error> {
    let mut fields = body.fields()?;
    let patch = PostPatch {
        title: fields.optional("title", PostTitle::parse),
        body: fields.optional("body", PostBody::parse),
        status: fields.optional("status", str::parse::<Status>),
    };
    fields.finish(Some(patch))
}
