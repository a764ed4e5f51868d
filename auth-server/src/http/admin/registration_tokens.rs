//! `/admin/registration-tokens`: the initial access tokens, with which others register clients (RFC 7591 §3).

use super::{Administrator, secret_response};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use foundation::ids::TextId;
use foundation::list_query::PageRequest;
use identity::Identity;
use issuer::registrations::initial_tokens::list::{self, ListQuery, Position};
use issuer::registrations::initial_tokens::{
    self, DEFAULT_LIFETIME, MAX_LIFETIME, MAX_USES, NewRegistrationToken, RegistrationToken,
};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use web::{Authorized, Envelope, Error, JsonBody, PathId, Policy, list_response};

const PATH: &str = "/admin/registration-tokens";

/// An initial access token to create.
#[derive(ToSchema)]
#[schema(as = RegistrationTokenCreation, example = json!({"uses": 10, "lifetime": 3600}))]
struct Creation {
    /// The number of clients that it can register.
    #[schema(required = false, minimum = 1, maximum = 1_000_000, default = 1)]
    uses: i64,
    /// The time until it ends, in seconds.
    #[schema(value_type = i64, required = false, minimum = 1, maximum = 31_536_000, default = 86400)]
    lifetime: Duration,
}

/// List the initial access tokens
///
/// Returns the tokens that have not expired, without their secrets: the next to expire first, 20 per page.
/// Unknown and invalid query parameters are ignored.
#[utoipa::path(
    get, path = PATH, operation_id = "listRegistrationTokens", tag = "Administration",
    params(ListQuery, PageRequest<Position>), security(("session" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 200, description = "A page of tokens.", body = Envelope<RegistrationToken, Position>, headers(("Link"))),
        Administrator,
    )
)]
pub(crate) async fn list(
    Administrator(context): Administrator,
    State(identity): State<Identity>,
    State(policy): State<Arc<Policy>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Error> {
    let query = ListQuery::parse(query.as_deref().unwrap_or_default());
    let page = list::page(&identity.db, &query, context.now).await?;
    Ok(list_response(page, &query.page, &policy.url(PATH)))
}

/// Create an initial access token
///
/// The bearer of the token can register clients at `/register`. It is in the response as `token`, and is
/// shown only once.
#[utoipa::path(
    post, path = PATH, operation_id = "createRegistrationToken", tag = "Administration",
    request_body(content = Option<Creation>, description = "By default the token registers one client within a day."),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses(
        (status = 201, description = "The token.", body = NewRegistrationToken<'_>, headers(("Cache-Control"))),
        Administrator, JsonBody,
    )
)]
pub(crate) async fn create(
    State(identity): State<Identity>,
    Authorized(Administrator(context), body): Authorized<Administrator, Option<JsonBody>>,
) -> Result<Response, Error> {
    let Creation { uses, lifetime } = read_creation(&body.unwrap_or_default())?;
    let (description, secret) = initial_tokens::create(&identity.db, uses, lifetime, &context).await?;
    let created = NewRegistrationToken {
        description: &description,
        token: secret.expose(),
    };
    Ok(secret_response(StatusCode::CREATED, &created))
}

/// Revoke an initial access token
///
/// The clients that were registered with it stay.
#[utoipa::path(
    delete, path = "/admin/registration-tokens/{id}", operation_id = "revokeRegistrationToken", tag = "Administration",
    params(("id" = String, Path, description = "The id of the token.")),
    security(("session" = [], "csrf" = []), ("oauth2" = ["admin"])),
    responses((status = 204, description = "The token is revoked."), Administrator, PathId)
)]
pub(crate) async fn revoke(
    Administrator(context): Administrator,
    id: PathId<TextId>,
    State(identity): State<Identity>,
) -> Result<StatusCode, Error> {
    let id = id.or_not_found()?;
    match initial_tokens::revoke(&identity.db, id.as_ref(), &context).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::not_found()),
    }
}

fn read_creation(body: &JsonBody) -> Result<Creation, Error> {
    let mut fields = body.fields()?;
    let uses = fields.optional_integer("uses", uses);
    let lifetime = fields.optional_integer("lifetime", lifetime);
    fields.finish(Some(Creation {
        uses: uses.unwrap_or(1),
        lifetime: lifetime.unwrap_or(DEFAULT_LIFETIME),
    }))
}

fn uses(uses: i64) -> Result<i64, String> {
    match (1..=MAX_USES).contains(&uses) {
        true => Ok(uses),
        false => Err(format!("must be 1 to {MAX_USES}")),
    }
}

fn lifetime(seconds: i64) -> Result<Duration, String> {
    let lifetime = u64::try_from(seconds).ok().map(Duration::from_secs);
    lifetime
        .filter(|lifetime| !lifetime.is_zero() && *lifetime <= MAX_LIFETIME)
        .ok_or_else(|| format!("must be 1 to {} seconds", MAX_LIFETIME.as_secs()))
}
