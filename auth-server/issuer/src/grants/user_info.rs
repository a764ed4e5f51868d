//! Claims about a user for the client that has an access token (OpenID Connect Core §5.3).

use super::Grants;
use super::tokens::TokenTerms;
use crate::keys;
use access_tokens::{Subject, Token};
use foundation::clock::Timestamp;
use foundation::scope::Scope;
use identity::users::{self, User};
use serde::Serialize;
use storage::db;
use utoipa::ToSchema;

/// The claims that the scope of the access token permits (OpenID Connect Core §5.1, §5.4).
#[derive(Debug, Serialize, ToSchema)]
pub struct UserInfo {
    /// The id of the user, the `sub` of the ID token.
    sub: String,
    /// The time of the last change of the account, in seconds since 1970. With the scope `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    updated_at: Option<i64>,
    /// The e-mail address. With the scope `email`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// Whether the user has confirmed the address. With the scope `email`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email_verified: Option<bool>,
}

/// The claims of a signed response (OpenID Connect Core §5.3.2).
#[derive(Serialize)]
pub(super) struct SignedUserInfo<'a> {
    iss: &'a str,
    aud: &'a str,
    #[serde(flatten)]
    user_info: &'a UserInfo,
}

impl Grants {
    /// Returns the claims for a verified access token. Returns `None` if its subject is not a user, or the
    /// user's account has ended.
    pub async fn user_info(&self, token: &Token) -> Result<Option<UserInfo>, db::Error> {
        let Subject::User(user_id, _) = token.subject else {
            return Ok(None);
        };
        let user = users::find_enabled(&self.db, user_id).await?;
        Ok(user.map(|user| UserInfo::new(user, token.scope)))
    }

    /// Returns whether the client has registered that it gets the claims signed
    /// (`userinfo_signed_response_alg`, OpenID Connect Dynamic Client Registration 1.0 §2).
    pub async fn signs_user_info(&self, client_id: &str, now: Timestamp) -> Result<bool, db::Error> {
        let client = self.clients.find(client_id, now).await?;
        Ok(client.is_some_and(|client| client.signed_user_info))
    }

    /// Returns the claims as a JWT for the client that asked. Fails if no key can sign.
    pub fn sign_user_info(
        &self,
        client_id: &str,
        user_info: &UserInfo,
        now: Timestamp,
    ) -> Result<String, keys::Error> {
        let claims = self.terms().signed_claims(client_id, user_info);
        self.keys.signer(now)?.sign("JWT", &claims)
    }
}

impl<'a> TokenTerms<'a> {
    /// Returns the claims of a signed response.
    pub(super) fn signed_claims(self, client_id: &'a str, user_info: &'a UserInfo) -> SignedUserInfo<'a> {
        SignedUserInfo {
            iss: self.issuer,
            aud: client_id,
            user_info,
        }
    }
}

impl UserInfo {
    pub(super) fn new(user: User, scope: Scope) -> Self {
        let (has_profile, has_email) = (scope.contains("profile"), scope.contains("email"));
        Self {
            sub: user.id.to_string(),
            updated_at: has_profile.then(|| user.updated_at.seconds()),
            email_verified: has_email.then_some(user.email_verified),
            email: has_email.then_some(user.email),
        }
    }
}
