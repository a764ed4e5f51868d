//! The tokens of a grant: a JWT (RFC 9068) and, unless the grant is a service's own, a derived refresh token,
//! and an ID token if the scope asks for one.

use super::proofs::token_type;
use super::{Grants, TokenResponse};
use crate::keys::{self, SigningKey};
use audit::figures::COUNTERS;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::{self, Scope};
use identity::clients::Client;
use identity::refresh_families::Family;
use serde::Serialize;
use std::time::Duration;

/// The claims of RFC 9068 §2.2, and those by which all tokens of a grant, of a user or of a client are
/// revoked.
#[derive(Serialize)]
pub(super) struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: String,
    client_id: &'a str,
    scope: Scope,
    /// Absent for a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<[&'static str; 1]>,
    /// Absent for a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_id: Option<&'a str>,
    /// Absent for a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_epoch: Option<i64>,
    client_epoch: i64,
    jti: String,
    iat: i64,
    exp: i64,
    /// Absent if the token is not bound to a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation<'a>>,
}

/// The key that a token is bound to (RFC 9449 §6.1).
#[derive(Serialize)]
struct Confirmation<'a> {
    jkt: &'a str,
}

/// The grant to issue tokens for.
pub(super) struct TokenGrant<'a> {
    /// The family of refresh tokens, at the generation of the refresh token to issue.
    pub(super) family: &'a Family,
    /// The granted scope. The access token has the part of it that the role of the user allows.
    pub(super) scope: Scope,
    /// The `nonce` of the authorization request, for the ID token.
    pub(super) nonce: Option<&'a str>,
    /// The thumbprint of the key to bind the access token to.
    pub(super) key: Option<&'a str>,
}

/// The values that all tokens of an issuer share.
#[derive(Clone, Copy, Debug)]
pub struct TokenTerms<'a> {
    /// The issuer's URL.
    pub issuer: &'a str,
    /// The `aud` of access tokens.
    pub audience: &'a str,
    /// The lifetime of access tokens and ID tokens.
    pub lifetime: Duration,
}

/// The subject of an access token.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// The user of the family that the token belongs to.
    User(&'a Family),
    /// The service itself (RFC 9068 §2.2).
    Service(&'a Client),
}

impl Grants {
    /// Signs an access token, valid from `now` on for the configured lifetime, and derives the refresh token.
    /// Signs an ID token too if the scope contains `openid`. The scope is what the role of the user allows,
    /// so that a resource server which knows no roles may believe the token.
    pub(super) fn issue_tokens(
        &self,
        signer: &SigningKey,
        grant: &TokenGrant<'_>,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let family = grant.family;
        let scope = family.role.scope().intersection(grant.scope);
        let refresh_token = self.refresh_tokens.derive(&family.id, family.generation);
        let tokens = self.issue_access_token(signer, Subject::User(family), scope, grant.key, now)?;
        let id_token = scope.contains(scope::OPENID).then(|| {
            let claims = self.terms().id_token_claims(grant, &tokens.access_token, now);
            signer.sign("JWT", &claims)
        });
        Ok(TokenResponse {
            refresh_token: Some(refresh_token.expose().to_owned()),
            id_token: id_token.transpose()?,
            ..tokens
        })
    }

    /// Signs an access token, valid from `now` on for the configured lifetime, and bound to the key with the
    /// thumbprint `key`, if it is set. The response has no refresh token.
    pub(super) fn issue_access_token(
        &self,
        signer: &SigningKey,
        subject: Subject<'_>,
        scope: Scope,
        key: Option<&str>,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let claims = self.terms().access_token_claims(subject, scope, key, now);
        let access_token = signer.sign("at+jwt", &claims)?;
        COUNTERS.issue(signer.kid(), now.after(self.lifetimes.access_token));
        Ok(TokenResponse {
            access_token,
            token_type: token_type(key),
            expires_in: self.lifetimes.access_token.as_secs(),
            refresh_token: None,
            id_token: None,
            scope,
        })
    }

    pub(super) fn terms(&self) -> TokenTerms<'_> {
        TokenTerms {
            issuer: &self.issuer,
            audience: &self.audience,
            lifetime: self.lifetimes.access_token,
        }
    }
}

impl<'a> TokenTerms<'a> {
    /// Returns the claims of a new access token.
    pub(super) fn access_token_claims(
        self,
        subject: Subject<'a>,
        scope: Scope,
        key: Option<&'a str>,
        now: Timestamp,
    ) -> Claims<'a> {
        let (sub, client_id, client_epoch, family) = match subject {
            Subject::User(family) => {
                let sub = family.user_id.to_string();
                (sub, &family.client_id, family.epochs.client, Some(family))
            }
            Subject::Service(client) => (client.id.clone(), &client.id, client.epoch, None),
        };
        Claims {
            iss: self.issuer,
            aud: self.audience,
            sub,
            client_id,
            scope,
            roles: family.map(|family| [family.role.as_str()]),
            grant_id: family.map(|family| family.id.as_str()),
            user_epoch: family.map(|family| family.epochs.user),
            client_epoch,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetime).seconds(),
            cnf: key.map(|jkt| Confirmation { jkt }),
        }
    }
}
