//! The tokens of a grant: a JWT (RFC 9068) and, unless the grant is a service's own, a derived refresh token,
//! and an ID token if the scope asks for one.

use super::proofs::token_type;
use super::{Grants, TokenResponse};
use crate::keys::{self, SigningKey};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope;
use foundation::scope::Scope;
use identity::grants::clients::Client;
use identity::grants::refresh_families::Family;
use serde::Serialize;

/// The claims of RFC 9068 §2.2, and those by which all tokens of a grant, of a user or of a client are
/// revoked.
#[derive(Serialize)]
pub(super) struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
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

/// The subject of an access token, its client, and the grant of a user that the token belongs to.
pub(super) struct Subject<'a> {
    pub(super) sub: &'a str,
    pub(super) client_id: &'a str,
    pub(super) client_epoch: i64,
    /// `None` for a service.
    pub(super) family: Option<&'a Family>,
    /// The thumbprint of the key that the token is bound to.
    pub(super) key: Option<&'a str>,
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
        let subject = Subject {
            sub: &family.user_id.to_string(),
            client_id: &family.client_id,
            client_epoch: family.epochs.client,
            family: Some(family),
            key: grant.key,
        };
        let refresh_token = self.refresh_tokens.derive(&family.id, family.generation);
        let tokens = self.sign(signer, &subject, scope, now)?;
        Ok(TokenResponse {
            refresh_token: Some(refresh_token.expose().to_owned()),
            id_token: match scope.contains(scope::OPENID) {
                true => Some(self.sign_id_token(signer, grant, &tokens.access_token, now)?),
                false => None,
            },
            ..tokens
        })
    }

    /// Signs an access token whose subject is the service itself (RFC 9068 §2.2), valid from `now` on for the
    /// configured lifetime, and bound to the key with the thumbprint `key`, if it is set.
    pub(super) fn issue_service_token(
        &self,
        signer: &SigningKey,
        service: &Client,
        scope: Scope,
        key: Option<&str>,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let subject = Subject {
            sub: &service.id,
            client_id: &service.id,
            client_epoch: service.epoch,
            family: None,
            key,
        };
        self.sign(signer, &subject, scope, now)
    }

    /// Returns the response with a signed access token and without a refresh token.
    fn sign(
        &self,
        signer: &SigningKey,
        subject: &Subject<'_>,
        scope: Scope,
        now: Timestamp,
    ) -> Result<TokenResponse, keys::Error> {
        let access_token = signer.sign("at+jwt", &self.access_token_claims(subject, scope, now))?;
        Ok(TokenResponse {
            access_token,
            token_type: token_type(subject.key),
            expires_in: self.lifetimes.access_token.as_secs(),
            refresh_token: None,
            id_token: None,
            scope,
        })
    }

    /// Returns the claims of a new access token.
    pub(super) fn access_token_claims<'a>(
        &'a self,
        subject: &Subject<'a>,
        scope: Scope,
        now: Timestamp,
    ) -> Claims<'a> {
        Claims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: subject.sub,
            client_id: subject.client_id,
            scope,
            roles: subject.family.map(|family| [family.role.as_str()]),
            grant_id: subject.family.map(|family| family.id.as_str()),
            user_epoch: subject.family.map(|family| family.epochs.user),
            client_epoch: subject.client_epoch,
            jti: random::id(),
            iat: now.seconds(),
            exp: now.after(self.lifetimes.access_token).seconds(),
            cnf: subject.key.map(|jkt| Confirmation { jkt }),
        }
    }
}
