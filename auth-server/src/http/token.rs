//! `POST /token` (RFC 6749 §3.2).

use super::token_errors::{self, TokenErrorResponses};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foundation::context::RequestContext;
use identity::grants::clients::Client;
use issuer::clients::authenticates;
use issuer::grants::{Grants, TokenRequest, TokenResponse};
use issuer::params::Params;
use issuer::token_error::TokenError;
use std::sync::Arc;
use web::Context;
use web::body;
use web::headers::single;
use web::openapi::error_responses::code;

/// Exchange a code or a refresh token
///
/// Returns an access token and the next refresh token (RFC 6749 §4.1.3, §6). A code and a refresh token are
/// valid once. The reuse of either one revokes all tokens that were issued for it. Errors follow RFC 6749 §5.2.
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
    Context(context): Context,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match body::read(body, body::DEFAULT_LIMIT).await {
        Ok(bytes) => bytes,
        Err(error) => return error.into_response(),
    };
    match Box::pin(grant(&grants, &parts.headers, &bytes, &context)).await {
        Ok(tokens) => (
            [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))],
            Json(tokens),
        )
            .into_response(),
        Err(error) => token_errors::respond(&error, &context),
    }
}

/// Authenticates the client of a token request and runs the grant that the request names.
async fn grant(
    grants: &Grants,
    headers: &HeaderMap,
    bytes: &[u8],
    context: &RequestContext,
) -> Result<TokenResponse, TokenError> {
    let params = read_params(headers, bytes)?;
    let request: TokenRequest = params
        .read()
        .map_err(|error| TokenError::Internal(error.to_string()))?;
    let client = authenticate(grants, headers, &request).await?;
    match request.grant_type.as_str() {
        "authorization_code" => grants.exchange_code(&client, &request, context).await,
        "refresh_token" => grants.rotate(&client, &request, context).await,
        "" => Err(TokenError::InvalidRequest("grant_type is required".to_owned())),
        _ => Err(TokenError::UnsupportedGrantType),
    }
}

/// Reads the parameters from a form or from a JSON object of strings.
fn read_params(headers: &HeaderMap, bytes: &[u8]) -> Result<Params, TokenError> {
    let invalid = |message: &str| TokenError::InvalidRequest(message.to_owned());
    let params = match body::media_type(headers).as_deref() {
        Some("application/x-www-form-urlencoded") => Params::from_form(bytes),
        Some("application/json") => Params::from_json(bytes).ok_or_else(|| {
            invalid("the body must be one JSON object with string values and without repeated members")
        })?,
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

/// Authenticates the client (RFC 6749 §2.3): by a secret in HTTP Basic, or as a public client by `client_id`.
async fn authenticate(
    grants: &Grants,
    headers: &HeaderMap,
    request: &TokenRequest,
) -> Result<Arc<Client>, TokenError> {
    let basic = basic_credentials(headers)?;
    if request.client_secret.is_some() {
        return Err(match basic {
            Some(_) => TokenError::InvalidRequest(
                "the client authenticates in the Authorization header and in the body".to_owned(),
            ),
            None => TokenError::InvalidClient,
        });
    }
    let (client_id, secret) = match (&basic, request.client_id.as_deref()) {
        (Some((id, _)), Some(body_id)) if id != body_id => {
            return Err(TokenError::InvalidRequest(
                "client_id differs from the one in the Authorization header".to_owned(),
            ));
        }
        (Some((id, secret)), _) => (id.as_str(), Some(secret.as_str())),
        (None, Some(id)) => (id, None),
        (None, None) => return Err(TokenError::InvalidClient),
    };
    let client = grants.clients.find(client_id).await?;
    let is_authentic = authenticates(client.as_deref(), secret);
    client.filter(|_| is_authentic).ok_or(TokenError::InvalidClient)
}

/// Reads the client's id and secret from an `Authorization: Basic` header, each form-decoded (RFC 6749 §2.3.1). Returns
/// `None` without an Authorization header. Fails if the header is repeated, malformed or of another scheme.
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
    // No client id has a NUL character, and PostgreSQL rejects a text with one.
    if id.contains('\0') {
        return Err(TokenError::InvalidClient);
    }
    Ok(Some((id, secret)))
}

fn form_decoded(text: &str) -> String {
    // Parsed as the value of a single pair, so that `&` and `=` are not separators.
    let pair = format!("x={}", text.replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}
