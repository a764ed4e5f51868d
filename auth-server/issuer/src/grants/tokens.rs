//! The tokens of a grant: a JWT (RFC 9068) and a derived refresh token.

use super::{Grants, TokenResponse};
use crate::keys::{self, SigningKey};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::Scope;
use serde::Serialize;

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

/// The grant to issue tokens for.
pub(super) struct TokenGrant<'a> {
    /// The id of the family of refresh tokens, and the `grant_id` of its access tokens.
    pub(super) family_id: &'a str,
    /// The generation of the refresh token.
    pub(super) generation: i64,
    pub(super) user_id: i64,
    pub(super) client_id: &'a str,
    /// The scope of the access token.
    pub(super) scope: &'a Scope,
}

impl Grants {
    /// Signs an access token, valid from `now` on for the configured lifetime, and derives the refresh token.
    pub(super) fn issue_tokens(
        &self,
        signer: &SigningKey,
        grant: &TokenGrant<'_>,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let access_token = signer.sign_access_token(&Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: grant.user_id.to_string(),
            client_id: grant.client_id,
            scope: grant.scope,
            grant_id: grant.family_id,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
        })?;
        let refresh_token = self.refresh_tokens.derive(grant.family_id, grant.generation);
        Ok(TokenResponse {
            access_token,
            token_type: "Bearer",
            expires_in: self.lifetimes.access_token.as_secs(),
            refresh_token: refresh_token.expose().to_owned(),
            scope: grant.scope.clone(),
        })
    }
}
