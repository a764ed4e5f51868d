//! `POST /token` (RFC 6749 §3.2).

use super::describe::TokenRequest;
use super::token_errors::{self, TokenErrorResponses};
use crate::clients::authenticates;
use crate::error::TokenError;
use crate::grants::{Grants, TokenResponse};
use crate::params::Params;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shared::events::Context;
use shared::grants::clients::{self, Client};
use shared::http::openapi::refusals::code;
use shared::http::{body, single};
use std::sync::Arc;

/// Exchange a code or a refresh token
///
/// For an access token and the next refresh token (RFC 6749 §4.1.3, §6). A code is good once, and so is a
/// refresh token: one used again ends all that came of it. Errors are those of RFC 6749 §5.2.
#[utoipa::path(
    post, path = "/token", operation_id = "exchangeToken", tag = "OAuth",
    request_body(content(
        (TokenRequest = "application/x-www-form-urlencoded"),
        (TokenRequest = "application/json"),
    )),
    security((), ("client" = [])),
    responses(
        (status = 200, description = "The tokens.", body = TokenResponse, headers(("Cache-Control"))),
        TokenErrorResponses, code::PayloadTooLarge, code::RequestTimeout, code::MalformedJson,
    )
)]
pub(crate) async fn token(
    State(grants): State<Arc<Grants>>,
    Extension(context): Extension<Context>,
    request: Request,
) -> Response {
    let (parts, content) = request.into_parts();
    let bytes = match body::read(content, body::SMALL).await {
        Ok(bytes) => bytes,
        Err(error) => return error.into_response(),
    };
    match grant(&grants, &parts.headers, &bytes, &context).await {
        Ok(response) => (
            [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))],
            Json(response),
        )
            .into_response(),
        Err(error) => token_errors::respond(&error, &context),
    }
}

async fn grant(
    grants: &Grants,
    headers: &HeaderMap,
    bytes: &[u8],
    context: &Context,
) -> Result<TokenResponse, TokenError> {
    let params = read(headers, bytes)?;
    let client = authenticate(grants, headers, &params).await?;
    match params.get("grant_type") {
        Some("authorization_code") => grants.exchange_code(&client, &params, context).await,
        Some("refresh_token") => grants.rotate(&client, &params, context).await,
        Some(_) => Err(TokenError::UnsupportedGrantType),
        None => Err(TokenError::InvalidRequest("grant_type is required".to_owned())),
    }
}

/// The parameters, form-encoded or as a JSON object of strings.
fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Params, TokenError> {
    let invalid = |says: &str| TokenError::InvalidRequest(says.to_owned());
    let params = match body::media_type(headers).as_deref() {
        Some("application/x-www-form-urlencoded") => Params::from_form(bytes),
        Some("application/json") => Params::from_json(bytes)
            .ok_or_else(|| invalid("the body must be one JSON object of strings, no member twice"))?,
        _ => {
            return Err(invalid(
                "send the parameters as application/x-www-form-urlencoded, in UTF-8",
            ));
        }
    };
    match params.flaw() {
        Some(flaw) => Err(invalid(flaw)),
        None => Ok(params),
    }
}

/// Client authentication (RFC 6749 §2.3): a secret in HTTP Basic, or a public client's `client_id`.
async fn authenticate(grants: &Grants, headers: &HeaderMap, params: &Params) -> Result<Client, TokenError> {
    let basic = basic_credentials(headers)?;
    let in_body = params.get("client_id");
    if params.get("client_secret").is_some() {
        return Err(match basic {
            Some(_) => TokenError::InvalidRequest("the client authenticates in two ways at once".to_owned()),
            None => TokenError::InvalidClient,
        });
    }
    let (client_id, secret) = match (&basic, in_body) {
        (Some((id, _)), Some(named)) if id != named => {
            return Err(TokenError::InvalidRequest(
                "client_id differs from the Authorization header's".to_owned(),
            ));
        }
        (Some((id, secret)), _) => (id.as_str(), Some(secret.as_str())),
        (None, Some(named)) => (named, None),
        (None, None) => return Err(TokenError::InvalidClient),
    };
    let client = clients::find(&grants.db, client_id).await?;
    match client {
        client if !authenticates(client.as_ref(), secret) => Err(TokenError::InvalidClient),
        Some(client) => Ok(client),
        None => Err(TokenError::InvalidClient),
    }
}

/// Id and secret of an `Authorization: Basic` header, each form-decoded (RFC 6749 §2.3.1).
fn basic_credentials(headers: &HeaderMap) -> Result<Option<(String, String)>, TokenError> {
    if !headers.contains_key(header::AUTHORIZATION) {
        return Ok(None);
    }
    let value = single(headers, header::AUTHORIZATION.as_str()).ok_or(TokenError::InvalidClient)?;
    let (scheme, encoded) = value.split_once(' ').ok_or(TokenError::InvalidClient)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(TokenError::InvalidClient);
    }
    let decoded = STANDARD
        .decode(encoded.trim())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = decoded.ok_or(TokenError::InvalidClient)?;
    let (id, secret) = decoded.split_once(':').ok_or(TokenError::InvalidClient)?;
    let (id, secret) = (form_decoded(id), form_decoded(secret));
    // PostgreSQL takes no NUL in a text, and no id has one.
    (!id.contains('\0'))
        .then_some(Some((id, secret)))
        .ok_or(TokenError::InvalidClient)
}

fn form_decoded(text: &str) -> String {
    // As the value of a single pair, so that & and = within it stay what they are.
    let pair = format!("x={}", text.replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}
