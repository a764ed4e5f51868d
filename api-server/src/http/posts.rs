//! `/posts`.

use super::{envelope, tagged};
use crate::error::{precondition_failed, precondition_required};
use crate::extract::{Author, PathId, Principal};
use crate::posts::{self, ListQuery, NewPost, Post, PostBody, PostPatch, PostTitle, Status};
use crate::versions::Prefix;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use shared::db::Db;
use shared::events::Context;
use shared::http::body::LARGE;
use shared::http::etag::IfMatch;
use shared::http::{Error, JsonBody, Policy};
use std::sync::Arc;

/// `GET /posts`: a page of what the caller may see.
pub(crate) async fn list(
    caller: Principal,
    prefix: Prefix,
    State(db): State<Db>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    caller.require("posts:read")?;
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = posts::list(&db, caller.reader(), &query).await?;
    Ok(envelope::show(
        page,
        &query.walk,
        &policy.url(&prefix.path("/posts")),
    ))
}

/// `POST /posts`: 201.
pub(crate) async fn create(
    author: Author,
    prefix: Prefix,
    State(db): State<Db>,
    Extension(context): Extension<Context>,
    body: JsonBody<LARGE>,
) -> Result<impl IntoResponse, Error> {
    let new = read_new(&body)?;
    let post = posts::create(&db, author.actor, &new, context.now).await?;
    let location = [(header::LOCATION, prefix.path(&format!("/posts/{}", post.id)))];
    Ok((StatusCode::CREATED, location, show(post)))
}

/// `GET /posts/{id}`: public, as far as the post is.
pub(crate) async fn read(
    caller: Option<Principal>,
    id: PathId,
    State(db): State<Db>,
) -> Result<impl IntoResponse, Error> {
    let viewer = caller.and_then(|caller| caller.reader());
    let post = posts::find(&db, viewer, id.found()?).await?;
    Ok(tagged::revalidated(post.etag(), post))
}

/// `PATCH /posts/{id}`: changes the version that `If-Match` names.
pub(crate) async fn update(
    author: Author,
    id: PathId,
    State(db): State<Db>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: JsonBody<LARGE>,
) -> Result<impl IntoResponse, Error> {
    let found = posts::find_to_change(&db, author.actor, id.found()?).await;
    let post = found.map_err(|error| author.refused(error))?;
    match IfMatch::read(&headers) {
        IfMatch::Missing => return Err(precondition_required()),
        if_match if !if_match.matches(&post.etag()) => return Err(precondition_failed()),
        _ => {}
    }
    let patch = read_patch(&body)?;
    Ok(show(posts::update(&db, post, patch, context.now).await?))
}

/// `DELETE /posts/{id}`: 204; with `If-Match` only the version that it names.
pub(crate) async fn delete(
    author: Author,
    id: PathId,
    State(db): State<Db>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<StatusCode, Error> {
    let found = posts::find_to_change(&db, author.actor, id.found()?).await;
    let post = found.map_err(|error| author.refused(error))?;
    match IfMatch::read(&headers) {
        IfMatch::Missing | IfMatch::Any => posts::delete(&db, &post, context.now).await?,
        if_match if if_match.matches(&post.etag()) => posts::delete_version(&db, &post, context.now).await?,
        IfMatch::Tags(_) => return Err(precondition_failed()),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// A post and its entity tag.
fn show(post: Post) -> impl IntoResponse {
    tagged::show(post.etag(), post)
}

fn read_new(body: &JsonBody<LARGE>) -> Result<NewPost, Error> {
    let mut fields = body.fields()?;
    let title = fields.required("title", PostTitle::parse);
    let body = fields.optional("body", PostBody::parse).unwrap_or_default();
    let status = fields
        .optional("status", str::parse::<Status>)
        .unwrap_or_default();
    fields.finish(title.map(|title| NewPost { title, body, status }))
}

fn read_patch(body: &JsonBody<LARGE>) -> Result<PostPatch, Error> {
    let mut fields = body.fields()?;
    let patch = PostPatch {
        title: fields.optional("title", PostTitle::parse),
        body: fields.optional("body", PostBody::parse),
        status: fields.optional("status", str::parse::<Status>),
    };
    fields.finish(Some(patch))
}
