//! `/admin/clients`.

mod body;

use super::{Administrator, secret_response};
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use body::SecretRotation;
use foundation::ids::TextId;
use foundation::list_query::PageRequest;
use identity::Identity;
use identity::clients::list::{self, ListQuery};
use identity::clients::{self, Client};
use issuer::clients::{
    ClientChanges, ClientWithSecret, Error as ClientError, Registration, disable, enable, register,
    rotate_secret, update,
};
use issuer::grants::Grants;
use std::sync::Arc;
use storage::db::Db;
use web::openapi::error_responses::code;
use web::{Authorized, Code, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// List the clients
///
/// Returns the registered clients by id, 20 per page. Unknown and invalid query parameters are ignored. A
/// browser that opens the address gets a page in place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_CLIENTS, operation_id = "listClients", tag = "Administration", params(ListQuery, PageRequest<TextId>),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of clients.", headers(("Link")),
         content((Envelope<Client, TextId> = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn list(
    _: Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = list::page(&identity.db, &query).await?;
    let url = policy.url(paths::ADMIN_CLIENTS);
    Ok(list_response(page, &query.page, &url))
}

/// Register a client
///
/// The response of a client that authenticates by a secret has the secret as `client_secret`, which is shown
/// only once.
#[utoipa::path(
    post, path = paths::ADMIN_CLIENTS, operation_id = "createClient", tag = "Administration", request_body = Registration,
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 201, description = "The client.", body = ClientWithSecret<'_>, headers(("Location"), ("Cache-Control"))),
        Administrator, JsonBody, code::ClientIdTaken,
    )
)]
pub(crate) async fn create(
    State(identity): State<Identity>,
    State(grants): State<Arc<Grants>>,
    Authorized(Administrator(context), body): Authorized<Administrator, JsonBody>,
) -> Result<Response, Error> {
    let registration = body::read_registration(&body, &grants.issuer)?;
    let registered = register(&identity.db, &grants.issuer, registration, &context).await;
    let (client, secret) = registered.map_err(error_response)?;
    let path = format!("{}/{}", paths::ADMIN_CLIENTS, client.id);
    let body = ClientWithSecret::new(&client, secret.as_ref());
    let created = secret_response(StatusCode::CREATED, &body);
    Ok(([(header::LOCATION, path)], created).into_response())
}

/// Read a client
///
/// Returns the registration of a client, without its secret. A browser that opens the address gets a page in
/// place of JSON, or is sent to the sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_CLIENT, operation_id = "readClient", tag = "Administration",
    params(("id" = String, Path, description = "The `client_id`.")),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The client.", content((Client = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors, PathId,
    )
)]
pub(crate) async fn read(
    _: Administrator,
    id: PathId<TextId>,
    State(identity): State<Identity>,
) -> Result<Json<Client>, Error> {
    find(&identity.db, id).await.map(Json)
}

/// Change a client
///
/// Members that the body leaves out stay unchanged. If the scope loses a part, every code and token of the
/// client ends, because it may hold that part.
#[utoipa::path(
    patch, path = paths::ADMIN_CLIENT, operation_id = "updateClient", tag = "Administration", request_body = ClientChanges,
    params(("id" = String, Path, description = "The `client_id`.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The changed client.", body = Client), Administrator, PathId, JsonBody)
)]
pub(crate) async fn change(
    id: PathId<TextId>,
    State(grants): State<Arc<Grants>>,
    Authorized(Administrator(context), body): Authorized<Administrator, JsonBody>,
) -> Result<Json<Client>, Error> {
    let (db, issuer) = (&grants.db, &grants.issuer);
    let id = find(db, id).await?.id;
    let changes = body::read_changes(&body, issuer)?;
    let changed = update(db, &grants.revocations, issuer, &id, changes, &context).await;
    changed.map(Json).map_err(error_response)
}

/// Give a client a new secret
///
/// The new secret is in the response and is shown only once. The former one stays valid for the time
/// `overlap`. A client has at most two valid secrets: another rotation within that time ends the oldest one.
#[utoipa::path(
    post, path = "/admin/clients/{id}/secrets", operation_id = "rotateClientSecret", tag = "Administration",
    request_body(content = Option<SecretRotation>, description = "By default the former secret stays valid for a day."),
    params(("id" = String, Path, description = "The `client_id`.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 201, description = "The client with its new secret.", body = ClientWithSecret<'_>,
         headers(("Cache-Control"))),
        Administrator, PathId, JsonBody,
    )
)]
pub(crate) async fn rotate(
    id: PathId<TextId>,
    State(identity): State<Identity>,
    Authorized(Administrator(context), body): Authorized<Administrator, Option<JsonBody>>,
) -> Result<Response, Error> {
    let id = find(&identity.db, id).await?.id;
    let SecretRotation { overlap } = body::read_rotation(&body.unwrap_or_default())?;
    let rotated = rotate_secret(&identity.db, &id, overlap, &context).await;
    let (client, secret) = rotated.map_err(error_response)?;
    let body = ClientWithSecret::new(&client, Some(&secret));
    Ok(secret_response(StatusCode::CREATED, &body))
}

/// Disable a client
///
/// Ends every code, refresh token and access token of the client. The client can then neither begin a flow
/// nor authenticate. No effect on a disabled client.
#[utoipa::path(
    post, path = "/admin/clients/{id}/disablements", operation_id = "disableClient", tag = "Administration",
    params(("id" = String, Path, description = "The `client_id`.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The client.", body = Client), Administrator, PathId)
)]
pub(crate) async fn disable_client(
    Administrator(context): Administrator,
    id: PathId<TextId>,
    State(identity): State<Identity>,
) -> Result<Json<Client>, Error> {
    let id = id.or_not_found()?;
    let disabled = disable(&identity.db, &identity.revocations, id.as_ref(), &context).await;
    disabled.map(Json).map_err(error_response)
}

/// Enable a client
///
/// The tokens that ended when the client was disabled stay revoked. No effect on an enabled client.
#[utoipa::path(
    post, path = "/admin/clients/{id}/enablements", operation_id = "enableClient", tag = "Administration",
    params(("id" = String, Path, description = "The `client_id`.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 200, description = "The client.", body = Client), Administrator, PathId)
)]
pub(crate) async fn enable_client(
    Administrator(context): Administrator,
    id: PathId<TextId>,
    State(identity): State<Identity>,
) -> Result<Json<Client>, Error> {
    let enabled = enable(&identity.db, id.or_not_found()?.as_ref(), &context).await;
    enabled.map(Json).map_err(error_response)
}

/// Returns the client with this id. Fails with 404 if there is none.
async fn find(db: &Db, id: PathId<TextId>) -> Result<Client, Error> {
    let client = clients::find(db, id.or_not_found()?.as_ref()).await?;
    client.ok_or_else(Error::not_found)
}

/// Returns the response to a change that failed.
fn error_response(error: ClientError) -> Error {
    match error {
        ClientError::Invalid(flaw) => Error::flawed("", "invalid", flaw.reason),
        ClientError::Taken(id) => Error::new(
            Code::ClientIdTaken,
            format!("A client with the id {id:?} exists. Choose another id."),
        ),
        ClientError::NotFound(_) => Error::not_found(),
        ClientError::Administrator(error) => error.into(),
        ClientError::Database(error) => error.into(),
    }
}
