//! The claims of the tokens that an app would get for a user, for an administrator who wants to see them.

use super::tokens::{Subject, TokenGrant};
use super::{Grants, UserInfo};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::{self, Scope};
use identity::authentication_methods::{AuthenticationMethods, SignIn};
use identity::grants::clients::Client;
use identity::grants::refresh_families::{Epochs, Family};
use identity::users::User;
use serde::Serialize;

/// What an app would get, as JSON with one member per line. The times are those of now; the ids of tokens, grants and sessions, the epoch of
/// the user and `at_hash` are examples.
#[derive(Debug)]
pub struct TokenPreview {
    /// The claims of the access token.
    pub access_token: String,
    /// The claims of the ID token, with the scope `openid`.
    pub id_token: Option<String>,
    /// The response of `/userinfo`, with the scope `openid`.
    pub user_info: Option<String>,
}

impl Grants {
    /// Returns the claims of the tokens that this app would get if the user signed in now with a password and gave it access with this scope.
    /// Without a user, those of the token that a service gets for itself. Signs and stores nothing.
    pub fn preview_tokens(
        &self,
        client: &Client,
        user: Option<&User>,
        scope: Scope,
        now: Timestamp,
    ) -> Result<TokenPreview, serde_json::Error> {
        let Some(user) = user else {
            let subject = Subject {
                sub: &client.id,
                client_id: &client.id,
                client_epoch: client.epoch,
                family: None,
                key: None,
            };
            return Ok(TokenPreview {
                access_token: json(&self.access_token_claims(&subject, scope, now))?,
                id_token: None,
                user_info: None,
            });
        };
        let family = Family {
            id: random::id(),
            client_id: client.id.clone(),
            user_id: user.id,
            role: user.role,
            session_id: Some(0),
            epochs: Epochs {
                user: 0,
                client: client.epoch,
            },
            sign_in: SignIn {
                at: now,
                methods: AuthenticationMethods::Password,
            },
            scope,
            generation: 1,
            dpop_jkt: None,
            redirect_uri: None,
        };
        let sub = user.id.to_string();
        let subject = Subject {
            sub: &sub,
            client_id: &client.id,
            client_epoch: client.epoch,
            family: Some(&family),
            key: None,
        };
        let allowed = user.role.scope().intersection(scope);
        let grant = TokenGrant {
            family: &family,
            scope,
            nonce: None,
            key: None,
        };
        let is_openid = allowed.contains(scope::OPENID);
        let id_token = is_openid.then(|| json(&self.id_token_claims(&grant, "", now)));
        let user_info = is_openid.then(|| json(&UserInfo::new(user.clone(), allowed)));
        Ok(TokenPreview {
            access_token: json(&self.access_token_claims(&subject, allowed, now))?,
            id_token: id_token.transpose()?,
            user_info: user_info.transpose()?,
        })
    }
}

fn json(claims: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(claims)
}
