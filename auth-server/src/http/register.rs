//! `/register`: dynamic client registration (RFC 7591) and its management (RFC 7592).

mod callers;
mod errors;

use super::client_request::NO_STORE;
use crate::paths;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use callers::{RegisteredClient, Registrant};
use errors::{MetadataErrors, respond};
use issuer::clients::ClientMetadata;
use issuer::registrations::{ClientInformation, Registrations};
use std::sync::Arc;
use web::openapi::error_responses::code;
use web::{Authorized, Context, JsonBody, error_responses};

/// The errors of a body that is not read, because it is not JSON or too large or too slow.
struct UnreadBody;

error_responses!(UnreadBody: UnsupportedMediaType, PayloadTooLarge, RequestTimeout, MalformedJson;);

/// Register a client
///
/// Registers the client that the body describes (RFC 7591), and returns what was registered: scopes and grant
/// types that clients cannot register by themselves are left out. A client that gets neither a code nor a
/// token within a day ends. Depending on the settings, the endpoint does not exist, needs an initial access
/// token, or accepts anybody within limits.
#[utoipa::path(
    post, path = paths::REGISTER, operation_id = "registerClient", tag = "OAuth", request_body = ClientMetadata,
    security((), ("registration" = [])),
    responses(
        (status = 201, description = "The client, with its credentials, which are shown once.", body = ClientInformation,
         headers(("Cache-Control"))),
        MetadataErrors, Registrant, UnreadBody,
    )
)]
pub(crate) async fn register(
    State(registrations): State<Arc<Registrations>>,
    Context(context): Context,
    Authorized(Registrant(token), body): Authorized<Registrant, JsonBody>,
) -> Response {
    let registered = registrations.register(body.bytes(), token.as_ref(), &context);
    match Box::pin(registered).await {
        Ok(client) => information(StatusCode::CREATED, &client),
        Err(error) => respond(error, &context),
    }
}

/// Read a registration
///
/// Returns the registration of the client whose registration access token the request has (RFC 7592 §2.1),
/// without its secret.
#[utoipa::path(
    get, path = "/register/{client_id}", operation_id = "readRegistration", tag = "OAuth",
    params(("client_id" = String, Path, description = "The `client_id`.")),
    security(("registration" = [])),
    responses(
        (status = 200, description = "The client.", body = ClientInformation, headers(("Cache-Control"))),
        RegisteredClient, code::NotFound,
    )
)]
pub(crate) async fn read(
    State(registrations): State<Arc<Registrations>>,
    RegisteredClient { client, token }: RegisteredClient,
) -> Response {
    information(StatusCode::OK, &registrations.describe(&client, &token))
}

/// Replace a registration
///
/// Replaces all metadata of the client (RFC 7592 §2.2); a member that is left out gets its default. The body
/// names the `client_id`. The type of the client and the kind of its credentials stay. If the scope loses a
/// part, every code and token of the client ends.
#[utoipa::path(
    put, path = "/register/{client_id}", operation_id = "replaceRegistration", tag = "OAuth", request_body = ClientMetadata,
    params(("client_id" = String, Path, description = "The `client_id`.")),
    security(("registration" = [])),
    responses(
        (status = 200, description = "The changed client.", body = ClientInformation, headers(("Cache-Control"))),
        MetadataErrors, RegisteredClient, UnreadBody, code::NotFound,
    )
)]
pub(crate) async fn replace(
    State(registrations): State<Arc<Registrations>>,
    Context(context): Context,
    Authorized(RegisteredClient { client, token }, body): Authorized<RegisteredClient, JsonBody>,
) -> Response {
    let replaced = registrations.replace(&client.id, &token, body.bytes(), &context);
    match Box::pin(replaced).await {
        Ok(client) => information(StatusCode::OK, &client),
        Err(error) => respond(error, &context),
    }
}

/// Delete a registration
///
/// Deletes the client, and ends every consent, code and token of it (RFC 7592 §2.3).
#[utoipa::path(
    delete, path = "/register/{client_id}", operation_id = "deleteRegistration", tag = "OAuth",
    params(("client_id" = String, Path, description = "The `client_id`.")),
    security(("registration" = [])),
    responses((status = 204, description = "The client is deleted."), RegisteredClient, code::NotFound)
)]
pub(crate) async fn delete(
    State(registrations): State<Arc<Registrations>>,
    Context(context): Context,
    RegisteredClient { client, token }: RegisteredClient,
) -> Response {
    match registrations.delete(&client.id, &token, &context).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => respond(error, &context),
    }
}

/// Returns a response with the client's credentials, which no cache may store.
fn information(status: StatusCode, client: &ClientInformation) -> Response {
    (status, NO_STORE, Json(client)).into_response()
}
