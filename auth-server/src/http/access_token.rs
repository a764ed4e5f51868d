//! Verification of the access tokens that callers of the issuer present.

use access_tokens::Token;
use axum::http::request::Parts;
use foundation::clock::Timestamp;
use issuer::grants::Grants;
use std::sync::Arc;
use web::bearer::PresentedToken;
use web::context::request_context;
use web::{Error, bearer, dpop};

/// Verifies the access token of a request and, if it is bound to a key, the proof of its possession. Fails
/// with 401 if either is invalid, and with 503 if that cannot be decided.
pub(crate) async fn verify(
    grants: &Grants,
    parts: &Parts,
    presented: PresentedToken<'_>,
) -> Result<Arc<Token>, Error> {
    let now = request_context(&parts.extensions)?.now;
    let token = grants.verifier.verify(presented.token, now).await;
    let token = token.map_err(error_response)?;
    let key = token.key_thumbprint.as_deref();
    dpop::check_possession(&grants.proofs, parts, &grants.issuer, presented, key).await?;
    Ok(token)
}

/// Checks that a verified access token has neither expired nor been revoked meanwhile. Fails like [`verify`].
pub(crate) async fn verify_again(grants: &Grants, token: &Token, now: Timestamp) -> Result<(), Error> {
    let verified = grants.verifier.verify_again(token, now).await;
    verified.map_err(error_response)
}

/// Returns 401 for an invalid token, and 503 if the keys or the revocations cannot be read.
#[allow(clippy::needless_pass_by_value, reason = "the signature is map_err's")]
fn error_response(error: access_tokens::Error) -> Error {
    match error {
        access_tokens::Error::Invalid(_) => bearer::invalid_token(error.to_string()),
        access_tokens::Error::NoKeys(_) | access_tokens::Error::Revocations(_) => Error::unavailable(&error),
    }
}
