//! Introspection of tokens (RFC 7662). The checks of an access token are those of the API, by the same code.

use super::Grants;
use super::proofs::token_type;
use crate::token_error::TokenError;
use access_tokens::{Error as VerificationError, Token};
use foundation::clock::Timestamp;
use foundation::scope::Scope;
use identity::clients::Client;
use identity::refresh_families::{self, CurrentToken};
use serde::Serialize;
use utoipa::ToSchema;

/// The state of a token (RFC 7662 §2.2). Only `active` is present unless the token is active.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Introspection {
    /// Whether the token can be used now.
    active: bool,
    /// The scopes of the token that the role of the user allows at present.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    scope: Option<Scope>,
    /// The client that the token was issued to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_id: Option<String>,
    /// `Bearer` or `DPoP` for an access token. Absent for a refresh token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    token_type: Option<&'static str>,
    /// The end of the token's lifetime, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    exp: Option<i64>,
    /// The time of its issue, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    iat: Option<i64>,
    /// The id of the user, or the client's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sub: Option<String>,
    /// The API that accepts the access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    aud: Option<String>,
    /// This issuer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    iss: Option<String>,
    /// The id of the access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    jti: Option<String>,
    /// The key that the access token is bound to (RFC 9449 §6.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cnf: Option<Confirmation>,
}

/// The key that an access token is bound to.
#[derive(Debug, Serialize, ToSchema)]
struct Confirmation {
    /// Its SHA-256 thumbprint in base64url (RFC 7638).
    jkt: String,
}

/// The claims of a signed introspection response (RFC 9701 §5). It has no `sub` and no `exp`, so that nobody
/// takes it for an access token.
#[derive(Serialize)]
struct SignedIntrospection<'a> {
    iss: &'a str,
    aud: &'a str,
    iat: i64,
    token_introspection: &'a Introspection,
}

impl Introspection {
    /// Returns whether the token can be used now.
    pub const fn is_active(&self) -> bool {
        self.active
    }
}

impl Grants {
    /// Returns the state of a token. A refresh token is active only for the client that it was issued to.
    /// Fails if the client is public. The caller has authenticated the client.
    pub async fn introspect(
        &self,
        client: &Client,
        token: &str,
        now: Timestamp,
    ) -> Result<Introspection, TokenError> {
        if !client.kind.is_confidential() {
            return Err(TokenError::InvalidClient);
        }
        if let Some(id) = self.refresh_tokens.verify(token) {
            let current = refresh_families::find_current(&self.db, &id.family_id, id.generation, now).await?;
            let own = current.filter(|current| current.family.client_id == client.id);
            let described = own.map(|current| self.describe_refresh_token(current));
            return Ok(described.unwrap_or_default());
        }
        match self.verifier.verify(token, now).await {
            Ok(token) => Ok(self.describe_access_token(&token)),
            Err(VerificationError::Invalid(_)) => Ok(Introspection::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the state of a token as a JWT for the client that asked (RFC 9701 §5). Fails if no key can
    /// sign.
    pub fn sign_introspection(
        &self,
        client: &Client,
        introspection: &Introspection,
        now: Timestamp,
    ) -> Result<String, TokenError> {
        let claims = SignedIntrospection {
            iss: &self.issuer,
            aud: &client.id,
            iat: now.seconds(),
            token_introspection: introspection,
        };
        Ok(self.keys.signer(now)?.sign("token-introspection+jwt", &claims)?)
    }

    fn describe_refresh_token(&self, current: CurrentToken) -> Introspection {
        Introspection {
            active: true,
            scope: Some(current.family.role.scope().intersection(current.family.scope)),
            client_id: Some(current.family.client_id),
            exp: Some(current.expires_at.seconds()),
            iat: Some(current.issued_at.seconds()),
            sub: Some(current.family.user_id.to_string()),
            iss: Some(self.issuer.clone()),
            ..Introspection::default()
        }
    }

    fn describe_access_token(&self, token: &Token) -> Introspection {
        Introspection {
            active: true,
            scope: Some(token.scope),
            client_id: Some(token.client_id.to_string()),
            token_type: Some(token_type(token.key_thumbprint.as_deref())),
            exp: Some(token.expires_at.seconds()),
            iat: Some(token.issued_at.seconds()),
            sub: Some(token.sub.clone()),
            aud: Some(self.audience.clone()),
            iss: Some(self.issuer.clone()),
            jti: Some(token.jti.clone()),
            cnf: token.key_thumbprint.clone().map(|jkt| Confirmation { jkt }),
        }
    }
}
