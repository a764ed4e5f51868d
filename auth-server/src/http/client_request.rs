//! The requests that clients send to the issuer (RFC 6749 §3.2, RFC 7009 §2.1, RFC 7662 §2.1): the
//! parameters, and the authentication of the client.

use super::token_errors::TokenFailure;
use crate::app::App;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foundation::clock::Timestamp;
use identity::clients::Client;
use issuer::clients;
use issuer::clients::assertions::{self, ASSERTION_TYPE, PresentedAssertion, Recipient};
use issuer::grants::Grants;
use issuer::params::Params;
use issuer::token_error::TokenError;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::sync::Arc;
use web::context::request_context;
use web::headers::single;
use web::{body, rate_limits};

/// The header of responses that no cache may store (RFC 6749 §5.1).
pub(super) const NO_STORE: [(HeaderName, HeaderValue); 1] =
    [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];

/// The request of a client that was authenticated (RFC 6749 §2.3), with the parameters `T` of a form or of a
/// JSON object. A client that describes itself by a document has an old document fetched again first. The
/// request counts under a confidential client; that of a public one needs an address. Rejects with the errors
/// of RFC 6749 §5.2, and like [`body::read`] and the rate limits.
pub(crate) struct ClientRequest<T> {
    pub(super) client: Arc<Client>,
    pub(super) headers: HeaderMap,
    pub(super) request: T,
}

impl<T: DeserializeOwned> FromRequest<App> for ClientRequest<T> {
    type Rejection = TokenFailure;

    async fn from_request(request: Request, app: &App) -> Result<Self, TokenFailure> {
        let (parts, body) = request.into_parts();
        let bytes = body::read(&parts, body, body::DEFAULT_LIMIT).await?;
        let context = request_context(&parts.extensions)?;
        let params = read_params(&parts.headers, &bytes)?;
        let grants = app.grants.as_ref();
        if grants.documents.is_on()
            && let Some(client_id) = claimed_client(&params)
        {
            let kept = grants.documents.keep_fresh(&client_id, context).await;
            kept.map_err(TokenError::from)?;
        }
        let client = authenticate(grants, &parts.headers, &params, context.now).await?;
        match client.kind.is_confidential() {
            true => rate_limits::by_client(&app.rate_limiter, &parts.extensions, &client.id)?,
            false => rate_limits::require_address(&parts.extensions)?,
        }
        let request = params.read();
        let request = request.map_err(|error| TokenError::Internal(error.to_string()))?;
        Ok(Self {
            client,
            headers: parts.headers,
            request,
        })
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

/// Returns the id of the client that a request claims to come from, if its body has one. It is not
/// authenticated.
fn claimed_client(params: &Params) -> Option<Cow<'_, str>> {
    match params.get("client_id") {
        Some(client_id) => Some(Cow::Borrowed(client_id)),
        None => params
            .get("client_assertion")
            .and_then(assertions::claimed_client)
            .map(Cow::Owned),
    }
}

/// Authenticates the client (RFC 6749 §2.3): by its secret in HTTP Basic or in the body, by a signed
/// assertion (RFC 7523), or as a public client by `client_id`. Fails if it does more than one of these.
async fn authenticate(
    grants: &Grants,
    headers: &HeaderMap,
    params: &Params,
    now: Timestamp,
) -> Result<Arc<Client>, TokenError> {
    let basic = basic_credentials(headers)?;
    let assertion = params.get("client_assertion");
    let assertion_type = params.get("client_assertion_type");
    if assertion.is_some() || assertion_type.is_some() {
        if basic.is_some() || params.get("client_secret").is_some() {
            return Err(TokenError::InvalidRequest(
                "the client authenticates by an assertion and by a secret".to_owned(),
            ));
        }
        return by_assertion(grants, params, assertion, assertion_type, now).await;
    }
    let in_body = (params.get("client_id"), params.get("client_secret"));
    let (client_id, secret) = match (&basic, in_body) {
        (Some(_), (_, Some(_))) => {
            return Err(TokenError::InvalidRequest(
                "the client authenticates in the Authorization header and in the body".to_owned(),
            ));
        }
        (Some((id, _)), (Some(body_id), None)) if id != body_id => {
            return Err(TokenError::InvalidRequest(
                "client_id differs from the one in the Authorization header".to_owned(),
            ));
        }
        (Some((id, secret)), _) => (id.as_str(), Some(secret.as_str())),
        (None, (Some(id), secret)) => (id, secret),
        (None, (None, _)) => return Err(TokenError::InvalidClient),
    };
    let client = clients::authenticate(&grants.clients, client_id, secret, now).await?;
    client.ok_or(TokenError::InvalidClient)
}

/// Authenticates the client by a signed assertion.
async fn by_assertion(
    grants: &Grants,
    params: &Params,
    assertion: Option<&str>,
    assertion_type: Option<&str>,
    now: Timestamp,
) -> Result<Arc<Client>, TokenError> {
    let (Some(assertion), Some(ASSERTION_TYPE)) = (assertion, assertion_type) else {
        return Err(TokenError::InvalidRequest(format!(
            "client_assertion needs the client_assertion_type {ASSERTION_TYPE}"
        )));
    };
    let presented = PresentedAssertion {
        assertion,
        client_id: params.get("client_id"),
    };
    let recipient = Recipient {
        issuer: &grants.issuer,
        audience: grants.assertion_audience,
    };
    let client = assertions::authenticate_by_assertion(
        &grants.clients,
        &grants.published_keys,
        &grants.db,
        recipient,
        presented,
        now,
    );
    Ok(client.await?)
}

/// Reads the client's id and secret from an `Authorization: Basic` header, each form-decoded (RFC 6749
/// §2.3.1). Returns `None` without an Authorization header. Fails if the header is repeated, malformed or of
/// another scheme.
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
