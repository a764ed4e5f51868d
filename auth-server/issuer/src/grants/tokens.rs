//! The tokens of a grant: a JWT (RFC 9068) and a derived refresh token.

use super::{Grants, TokenResponse};
use crate::keys::{self, SigningKey};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::Scope;
use identity::grants::refresh_families::Family;
use serde::Serialize;

/// The claims of RFC 9068 §2.2, and `grant_id`, by which a whole grant is revoked.
#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    client_id: &'a str,
    scope: Scope,
    roles: [&'static str; 1],
    grant_id: &'a str,
    jti: String,
    iat: i64,
    exp: i64,
}

/// The grant to issue tokens for.
pub(super) struct TokenGrant<'a> {
    /// The family of refresh tokens, at the generation of the refresh token to issue.
    pub(super) family: &'a Family,
    /// The scope of the access token.
    pub(super) scope: Scope,
}

impl Grants {
    /// Signs an access token, valid from `now` on for the configured lifetime, and derives the refresh token.
    pub(super) fn issue_tokens(
        &self,
        signer: &SigningKey,
        grant: &TokenGrant<'_>,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let TokenGrant { family, scope } = *grant;
        let access_token = signer.sign_access_token(&Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: &family.user_id.to_string(),
            client_id: &family.client_id,
            scope,
            roles: [family.role.as_str()],
            grant_id: &family.id,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
        })?;
        let refresh_token = self.refresh_tokens.derive(&family.id, family.generation);
        Ok(TokenResponse {
            access_token,
            token_type: "Bearer",
            expires_in: self.lifetimes.access_token.as_secs(),
            refresh_token: refresh_token.expose().to_owned(),
            scope,
        })
    }
}
