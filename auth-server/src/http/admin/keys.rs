//! `/admin/keys`.

use super::Administrator;
use crate::http::documentation::{AdministratorErrors, SessionErrors};
use crate::paths;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use foundation::clock;
use foundation::ids::TextId;
use foundation::list_query::PageRequest;
use identity::Identity;
use issuer::keys::list::{self, ListQuery, ListedKey};
use issuer::keys::{self, KeyChange, KeyStore, Readiness};
use std::sync::Arc;
use std::time::Duration;
use storage::paging::Page;
use utoipa::ToSchema;
use web::openapi::error_responses::code;
use web::{Authorized, Code, Envelope, Error, JsonBody, PathId, Policy, list_response};

/// A retirement of a key.
#[derive(ToSchema)]
#[schema(as = KeyRetirement)]
struct Retirement {
    /// Whether the key may be compromised. It is then deleted immediately, and every token that it signed is
    /// revoked.
    #[schema(required = false)]
    compromised: bool,
}

/// List the signing keys
///
/// Returns the keys with their states, the times of their life cycles and the numbers of their tokens that
/// have not expired, deleted ones included: the newest first, 20 per page. Unknown and invalid query
/// parameters are ignored. A browser that opens the address gets a page in place of JSON, or is sent to the
/// sign-in page.
#[utoipa::path(
    get, path = paths::ADMIN_KEYS, operation_id = "listSigningKeys", tag = "Administration", params(ListQuery, PageRequest),
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of keys.", headers(("Link")),
         content((Envelope<ListedKey> = "application/json"), (String = "text/html"))),
        (status = 303, description = "A browser without a session is sent to the sign-in page.", headers(("Location"))),
        Administrator, SessionErrors, AdministratorErrors,
    )
)]
pub(crate) async fn list(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let Page {
        items,
        is_first,
        rest,
        rest_before,
    } = list::page(&identity.db, &query).await?;
    let items = list::with_live_tokens(&identity.db, items, context.now).await?;
    let page = Page {
        items,
        is_first,
        rest,
        rest_before,
    };
    Ok(list_response(page, &query.page, &policy.url(paths::ADMIN_KEYS)))
}

/// List the verifiers of tokens
///
/// Returns the programs that verify tokens, as far as the issuer knows them, with the keys that they have,
/// and how many of them have the staged key: the replicas of the API, and the other clients that fetched the
/// key set within the last day. One that fetches it through a shared cache is not seen.
#[utoipa::path(
    get, path = "/admin/keys/verifiers", operation_id = "listVerifiers", tag = "Administration",
    security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The verifiers.", body = Readiness),
        Administrator,
    )
)]
pub(crate) async fn verifiers(
    Administrator(context): Administrator,
    State(store): State<KeyStore>,
) -> Result<Json<Readiness>, Error> {
    let published = store.published().await?;
    Ok(Json(keys::readiness(&store.db, &published, context.now).await?))
}

/// Rotate the signing keys
///
/// Activates the staged key, retires the active one and stages the next one. Fails with 409 if the staged key
/// may not sign yet, because caches may hold a key set without it; `Retry-After` is the time until it may.
/// Does not ask whether every verifier has the staged key: `listVerifiers` tells.
#[utoipa::path(
    post, path = "/admin/keys/rotations", operation_id = "rotateSigningKeys", tag = "Administration",
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The change, and the keys after it.", body = KeyChange),
        Administrator, code::KeyStateConflict,
    )
)]
pub(crate) async fn rotate(
    Administrator(context): Administrator,
    State(store): State<KeyStore>,
) -> Result<Json<KeyChange>, Error> {
    store.rotate(&context).await.map(Json).map_err(error_response)
}

/// Retire a signing key
///
/// Replaces the active key, or deletes a retired key whose last token has expired. Fails with 409 if the
/// state of the key does not allow that; if it will later, `Retry-After` is the time until then. A
/// compromised key is deleted immediately, whatever its state.
#[utoipa::path(
    post, path = "/admin/keys/{kid}/retirements", operation_id = "retireSigningKey", tag = "Administration",
    request_body(content = Option<Retirement>, description = "By default the key is not compromised."),
    params(("kid" = String, Path, description = "The `kid` of the key.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "The change, and the keys after it.", body = KeyChange),
        Administrator, PathId, JsonBody, code::KeyStateConflict,
    )
)]
pub(crate) async fn retire(
    kid: PathId<TextId>,
    State(store): State<KeyStore>,
    Authorized(Administrator(context), body): Authorized<Administrator, Option<JsonBody>>,
) -> Result<Json<KeyChange>, Error> {
    let kid = kid.or_not_found()?;
    let key = store.find(kid.as_ref()).await.map_err(error_response)?;
    let change = match read_retirement(&body.unwrap_or_default())?.compromised {
        true => store.discard(&key.kid, None, &context).await,
        false => store.retire(&key.kid, &context).await,
    };
    change.map(Json).map_err(error_response)
}

fn read_retirement(body: &JsonBody) -> Result<Retirement, Error> {
    let mut fields = body.fields()?;
    let compromised = fields.optional_bool("compromised").unwrap_or_default();
    fields.finish(Some(Retirement { compromised }))
}

/// Returns the response to a change that failed.
fn error_response(error: keys::Error) -> Error {
    match error {
        keys::Error::Database(error) => error.into(),
        keys::Error::Administrator(error) => error.into(),
        keys::Error::ClockDiffers(_) => Error::dependency_unavailable(),
        keys::Error::Unknown(_) => Error::not_found(),
        keys::Error::SignsLater { until, .. } | keys::Error::StillNeeded { until, .. } => {
            conflict(&error).retry_after(until.since(clock::now()))
        }
        keys::Error::NoneStaged | keys::Error::Contended => {
            conflict(&error).retry_after(Duration::from_secs(1))
        }
        keys::Error::Unready { .. } | keys::Error::Staged(_) | keys::Error::Deleted { .. } => {
            conflict(&error)
        }
        keys::Error::Sealed(_)
        | keys::Error::NoSecret
        | keys::Error::Rsa(_)
        | keys::Error::CannotSign { .. } => Error::internal(&error),
    }
}

/// Returns the 409 for a step that the state of a key does not allow, or not yet.
fn conflict(reason: &keys::Error) -> Error {
    Error::new(
        Code::KeyStateConflict,
        format!("The signing keys are unchanged: {reason}."),
    )
}
