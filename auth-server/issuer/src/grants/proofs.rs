//! Proofs of possession in token requests (RFC 9449 §5) and in pushed authorization requests (RFC 9449
//! §10.1).

use super::Grants;
use crate::token_error::TokenError;
use dpop::{Accepted, ProvenRequest};
use foundation::clock::Timestamp;
use identity::clients::Client;

impl Grants {
    /// Accepts the proof of a request to the endpoint with this path: the value of its header `DPoP`. Returns
    /// `None` if it has none, or if proofs are switched off. Fails if the proof is not accepted.
    pub async fn accept_proof(
        &self,
        path: &str,
        proof: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<Accepted>, TokenError> {
        let Some(proof) = proof.filter(|_| self.proofs.is_on()) else {
            return Ok(None);
        };
        let request = ProvenRequest {
            proof,
            method: "POST",
            url: &format!("{}{path}", self.issuer),
            access_token: None,
        };
        let accepted = Box::pin(self.proofs.accept(request, None, now)).await?;
        Ok(Some(accepted))
    }
}

/// Returns the thumbprint of the key to bind the refresh tokens of a client to: that of the key whose
/// possession it proved, unless the client is confidential, because then its authentication protects them
/// (RFC 9449 §5).
pub(super) fn bound_family_key<'a>(client: &Client, key: Option<&'a str>) -> Option<&'a str> {
    key.filter(|_| !client.kind.is_confidential())
}

/// Returns the `token_type` of an access token that is bound to this key.
pub(super) const fn token_type(key: Option<&str>) -> &'static str {
    match key {
        Some(_) => "DPoP",
        None => "Bearer",
    }
}
