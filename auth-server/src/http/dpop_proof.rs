//! The proof of a key with the request of a client (RFC 9449 §5, §10.1).

use axum::http::{HeaderMap, HeaderName};
use foundation::clock::Timestamp;
use issuer::grants::Grants;
use issuer::token_error::TokenError;
use web::dpop;

/// The header with the nonce for the next proofs, if the client should change to another one.
type NextNonce = Option<[(HeaderName, String); 1]>;

/// Accepts the DPoP proof of a request to the endpoint with this path, if it has one. Returns the thumbprint
/// of its key, and the header for the response.
pub(super) async fn accept_proof(
    grants: &Grants,
    path: &str,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<(Option<String>, NextNonce), TokenError> {
    let proof = grants.accept_proof(path, dpop::proof(headers)?, now).await?;
    let (key, next_nonce) = proof.map(|proof| (proof.thumbprint, proof.next_nonce)).unzip();
    Ok((key, next_nonce.flatten().map(|nonce| [(dpop::NONCE, nonce)])))
}
