//! Verification of the access tokens that callers of the issuer present.

use access_tokens::Token;
use foundation::clock::Timestamp;
use issuer::grants::Grants;
use std::sync::Arc;
use web::{Error, bearer};

/// Verifies an access token. Fails with 401 if it is invalid, and with 503 if that cannot be decided.
pub(crate) async fn verify(grants: &Grants, token: &str, now: Timestamp) -> Result<Arc<Token>, Error> {
    let verified = grants.verifier.verify(token, now).await;
    verified.map_err(|error| match error {
        access_tokens::Error::Invalid(_) => bearer::invalid_token(error.to_string()),
        access_tokens::Error::NoKeys(_) | access_tokens::Error::Revocations(_) => Error::unavailable(&error),
    })
}
