//! Access tokens: JWTs of RFC 9068.

use super::Grants;
use crate::keys::{self, SigningKey};
use serde::Serialize;
use shared::clock::Timestamp;
use shared::random;
use shared::scope::Scope;

/// The claims of RFC 9068 §2.2, and `grant_id`, by which a whole grant is revoked.
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

/// The grant that an access token belongs to.
pub(super) struct AccessTokenGrant<'a> {
    pub(super) grant_id: &'a str,
    pub(super) user_id: i64,
    pub(super) client_id: &'a str,
    pub(super) scope: &'a Scope,
}

impl Grants {
    /// Signs an access token of a grant, valid from `now` on.
    pub(super) fn access_token(
        &self,
        signer: &SigningKey,
        grant: &AccessTokenGrant<'_>,
        now: Timestamp,
    ) -> Result<String, keys::Error> {
        signer.sign_access_token(&Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: grant.user_id.to_string(),
            client_id: grant.client_id,
            scope: grant.scope,
            grant_id: grant.grant_id,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
        })
    }
}
