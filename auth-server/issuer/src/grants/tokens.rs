//! The tokens of a grant: a JWT (RFC 9068) and, unless the grant is a service's own, a derived refresh token.

use super::{Grants, TokenResponse};
use crate::keys::{self, SigningKey};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::Scope;
use identity::grants::clients::Client;
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
    /// Absent for a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<[&'static str; 1]>,
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
        let claims = Claims {
            sub: &family.user_id.to_string(),
            client_id: &family.client_id,
            roles: Some([family.role.as_str()]),
            grant_id: &family.id,
            ..self.common_claims(scope, now)
        };
        let refresh_token = self.refresh_tokens.derive(&family.id, family.generation);
        Ok(TokenResponse {
            refresh_token: Some(refresh_token.expose().to_owned()),
            ..self.sign(signer, &claims)?
        })
    }

    /// Signs an access token whose subject is the service itself (RFC 9068 §2.2), valid from `now` on for the configured
    /// lifetime.
    pub(super) fn issue_service_token(
        &self,
        signer: &SigningKey,
        service: &Client,
        scope: Scope,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let claims = Claims {
            sub: &service.id,
            client_id: &service.id,
            grant_id: &service.grant_id,
            ..self.common_claims(scope, now)
        };
        self.sign(signer, &claims)
    }

    /// Returns the claims that do not depend on the subject.
    fn common_claims(&self, scope: Scope, now: Timestamp) -> Claims<'_> {
        Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: "",
            client_id: "",
            scope,
            roles: None,
            grant_id: "",
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
        }
    }

    /// Returns the response with the signed access token and without a refresh token.
    fn sign(&self, signer: &SigningKey, claims: &Claims<'_>) -> Result<TokenResponse, keys::Error> {
        Ok(TokenResponse {
            access_token: signer.sign_access_token(claims)?,
            token_type: "Bearer",
            expires_in: self.lifetimes.access_token.as_secs(),
            refresh_token: None,
            scope: claims.scope,
        })
    }
}
