//! Access tokens that are bound to a key (RFC 9449 §7): the scheme `DPoP`, the header with the proof, and the
//! errors about them.

use crate::DeferredHeaders;
use crate::bearer::{self, PresentedToken};
use crate::context::request_context;
use crate::error::{Code, Error};
use ::dpop::{ALGORITHMS, Proofs, ProvenRequest};
use axum::extract::OriginalUri;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use std::time::Duration;

/// The request header with the proof.
const PROOF: HeaderName = HeaderName::from_static("dpop");
/// The response header with the nonce for the next proofs.
pub const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Returns the proof of a request, if it has one. Fails if it has several.
pub fn proof(headers: &HeaderMap) -> Result<Option<&str>, ::dpop::Error> {
    let mut values = headers.get_all(PROOF).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str();
            text.map(Some)
                .map_err(|_| ::dpop::Error::Invalid("it is not ASCII"))
        }
        (Some(_), Some(_)) => Err(::dpop::Error::Invalid("the request has more than one")),
    }
}

/// Checks that a verified access token came with the scheme that it needs and, if it is bound to the key with
/// the thumbprint `key`, with a proof of that key, which is then used up. `origin` is the public one of the
/// server. Fails with 401.
pub async fn check_possession(
    proofs: &Proofs,
    parts: &Parts,
    origin: &str,
    presented: PresentedToken<'_>,
    key: Option<&str>,
) -> Result<(), Error> {
    match (presented.is_dpop, key) {
        (false, None) => Ok(()),
        // Boxed, so that requests with bearer tokens stay as small as they are.
        (true, Some(key)) => Box::pin(accept_proof(proofs, parts, origin, presented.token, key)).await,
        (false, Some(_)) => Err(bearer::invalid_token(
            "The access token is bound to a key. Send it with the scheme DPoP and with a proof.".to_owned(),
        )),
        (true, None) => Err(bearer::invalid_token(
            "The access token is not bound to a key. Send it with the scheme Bearer.".to_owned(),
        )),
    }
}

async fn accept_proof(
    proofs: &Proofs,
    parts: &Parts,
    origin: &str,
    token: &str,
    key: &str,
) -> Result<(), Error> {
    let now = request_context(&parts.extensions)?.now;
    let missing = ::dpop::Error::Invalid("the request has none in the header DPoP");
    let proof = proof(&parts.headers).and_then(|proof| proof.ok_or(missing));
    // The path that the client used, also if a router has removed a prefix from it.
    let original = parts.extensions.get::<OriginalUri>();
    let path = original.map_or(&parts.uri, |OriginalUri(uri)| uri).path();
    let request = ProvenRequest {
        proof: proof.map_err(error_response)?,
        method: parts.method.as_str(),
        url: &format!("{origin}{path}"),
        access_token: Some(token),
    };
    let accepted = proofs
        .accept(request, Some(key), now)
        .await
        .map_err(error_response)?;
    let nonce = accepted
        .next_nonce
        .and_then(|nonce| HeaderValue::try_from(nonce).ok());
    if let (Some(nonce), Some(deferred)) = (nonce, parts.extensions.get::<DeferredHeaders>()) {
        deferred.add(NONCE, nonce);
    }
    Ok(())
}

/// Returns 401 for a proof that is not accepted (RFC 9449 §7.1, §9), and 503 if no further proof can be
/// remembered.
#[allow(clippy::needless_pass_by_value, reason = "the signature is map_err's")]
fn error_response(error: ::dpop::Error) -> Error {
    let message = error.to_string();
    match error {
        ::dpop::Error::Invalid(_) => Error::new(Code::InvalidDpopProof, message)
            .header(header::WWW_AUTHENTICATE, &challenge(Some("invalid_dpop_proof"))),
        ::dpop::Error::OtherKey | ::dpop::Error::Off => Error::new(Code::InvalidToken, message)
            .header(header::WWW_AUTHENTICATE, &challenge(Some("invalid_token"))),
        ::dpop::Error::UseNonce(nonce) => Error::new(Code::UseDpopNonce, message)
            .header(header::WWW_AUTHENTICATE, &challenge(Some("use_dpop_nonce")))
            .header(NONCE, &nonce),
        ::dpop::Error::Full => {
            Error::new(Code::DependencyUnavailable, message).retry_after(Duration::from_secs(1))
        }
    }
}

/// Returns a challenge of the scheme `DPoP` with the accepted algorithms (RFC 9449 §7.1).
fn challenge(error: Option<&str>) -> String {
    let error = error.map(|error| format!(r#"error="{error}", "#));
    let error = error.unwrap_or_default();
    format!(r#"DPoP {error}algs="{}""#, ALGORITHMS.join(" "))
}

/// Returns whether the access token of a request has the scheme `DPoP`.
pub(crate) fn has_scheme(headers: &HeaderMap) -> bool {
    matches!(bearer::token(headers), Ok(Some(presented)) if presented.is_dpop)
}

/// Adapts the challenge of a response to the request: if its access token has the scheme `DPoP`, the errors
/// about the token have that scheme too (RFC 9449 §7.1). `is_dpop` says whether it has.
pub(crate) fn adapt_challenge(is_dpop: bool, response: Response) -> Response {
    match is_dpop {
        true => change_challenge(response, |sent| {
            let parameters = sent.strip_prefix("Bearer ")?;
            Some(format!("{}, {parameters}", challenge(None)))
        }),
        false => response,
    }
}

/// Adds a challenge of the scheme `DPoP` to the one of a 401 response, for clients that can use either
/// scheme, unless proofs are switched off.
pub fn offer_scheme(proofs: &Proofs, response: Response) -> Response {
    if response.status() != StatusCode::UNAUTHORIZED || !proofs.is_on() {
        return response;
    }
    change_challenge(response, |sent| {
        let is_bearer = sent.starts_with("Bearer");
        is_bearer.then(|| format!("{sent}, {}", challenge(None)))
    })
}

/// Replaces the challenges of a response by what `change` returns for the first one, if it returns anything.
fn change_challenge(mut response: Response, change: impl FnOnce(&str) -> Option<String>) -> Response {
    let sent = response.headers().get(header::WWW_AUTHENTICATE);
    let changed = sent.and_then(|sent| change(sent.to_str().ok()?));
    if let Some(changed) = changed.and_then(|changed| HeaderValue::try_from(changed).ok()) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, changed);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn a_request_has_at_most_one_proof() {
        let mut headers = HeaderMap::new();
        assert_eq!(proof(&headers), Ok(None));
        headers.append("DPoP", HeaderValue::from_static("a.b.c"));
        assert_eq!(proof(&headers), Ok(Some("a.b.c")));
        headers.append("DPoP", HeaderValue::from_static("a.b.c"));
        assert!(proof(&headers).is_err());
        headers.insert("DPoP", HeaderValue::from_bytes(b"\xff").unwrap());
        assert!(proof(&headers).is_err());
    }

    #[test]
    fn a_challenge_has_the_scheme_of_the_request() {
        let adapted = |is_dpop| {
            let response = Response::builder().header("www-authenticate", r#"Bearer error="invalid_token""#);
            let response = adapt_challenge(is_dpop, response.body(Body::empty()).unwrap());
            response.headers()["www-authenticate"]
                .to_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(adapted(false), r#"Bearer error="invalid_token""#);
        assert_eq!(
            adapted(true),
            r#"DPoP algs="ES256 RS256 PS256 EdDSA Ed25519", error="invalid_token""#
        );
    }
}
