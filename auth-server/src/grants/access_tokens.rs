//! Access tokens: JWTs of RFC 9068.

use super::Grants;
use crate::keys::{self, SigningKey};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::random;
use shared::scope::Scope;

/// RFC 9068 §2.2, and `grant_id` by which a whole grant is revoked.
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: String,
    client_id: &'a str,
    scope: &'a Scope,
    grant_id: &'a str,
    jti: String,
    iat: i64,
    exp: i64,
}

impl Grants {
    /// Signs an access token of a grant, good from `now` on.
    pub(super) fn access_token(
        &self,
        signer: &SigningKey,
        grant_id: &str,
        user_id: i64,
        client_id: &str,
        scope: &Scope,
        now: Timestamp,
    ) -> Result<String, keys::Error> {
        signer.sign_access_token(&Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: user_id.to_string(),
            client_id,
            scope,
            grant_id,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
        })
    }
}
