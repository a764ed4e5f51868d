//! The claims of the tokens that an app would get for a user, for an administrator who wants to see them.

use super::tokens::{Subject, TokenGrant};
use super::{Grants, UserInfo};
use foundation::clock::Timestamp;
use foundation::random;
use foundation::scope::{self, Scope};
use identity::authentication_methods::{AuthenticationMethods, SignIn};
use identity::clients::Client;
use identity::refresh_families::{Epochs, Family};
use identity::users::account::Account;
use serde::Serialize;

/// The example of a key's thumbprint in RFC 9449 §6.1.
const EXAMPLE_THUMBPRINT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

/// The claims of the tokens that an app would get, as JSON with one member per line. The times are those of
/// now; the ids of tokens, grants and sessions, the epoch of the user, the key in `cnf` and `at_hash` are
/// examples.
#[derive(Debug)]
pub struct TokenPreview {
    /// Whether they are the tokens of a user and not of a service.
    pub has_user: bool,
    /// The claims of the access token.
    pub access_token: String,
    /// The claims of the ID token, with the scope `openid`.
    pub id_token: Option<String>,
    /// The response of `/userinfo`, with the scope `openid`.
    pub user_info: Option<String>,
}

impl Grants {
    /// Returns the claims of the tokens that this app would get if the user signed in now, with the factors
    /// that the account needs, and gave it access with this scope. Without a user, those of the token that a
    /// service gets for itself. Signs and stores nothing.
    pub fn preview_tokens(
        &self,
        client: &Client,
        account: Option<&Account>,
        scope: Scope,
        now: Timestamp,
    ) -> Result<TokenPreview, serde_json::Error> {
        let key = client.dpop_bound_access_tokens.then_some(EXAMPLE_THUMBPRINT);
        let Some(account) = account else {
            let service = Subject::Service(client);
            return Ok(TokenPreview {
                has_user: false,
                access_token: json(&self.access_token_claims(service, scope, key, now))?,
                id_token: None,
                user_info: None,
            });
        };
        let user = &account.user;
        let methods = match (account.has_password, account.mfa_enabled) {
            (true, true) => AuthenticationMethods::PasswordAndCode,
            (true, false) => AuthenticationMethods::Password,
            (false, _) => AuthenticationMethods::Passkey,
        };
        let family = Family {
            id: random::id(),
            client_id: client.id.clone(),
            user_id: user.id,
            role: user.role,
            // A device is in no session of a browser.
            session_id: (!client.redirect_uris.is_empty()).then_some(0),
            epochs: Epochs {
                user: 0,
                client: client.epoch,
            },
            sign_in: SignIn { at: now, methods },
            scope,
            generation: 1,
            dpop_jkt: None,
            redirect_uri: None,
        };
        let allowed = user.role.scope().intersection(scope);
        let grant = TokenGrant {
            family: &family,
            scope,
            nonce: None,
            key,
        };
        let is_openid = allowed.contains(scope::OPENID);
        let id_token = is_openid.then(|| json(&self.id_token_claims(&grant, "", now)));
        let user_info = UserInfo::new(user.clone(), allowed);
        let user_info = is_openid.then(|| match client.signed_user_info {
            true => json(&self.signed_claims(&client.id, &user_info)),
            false => json(&user_info),
        });
        Ok(TokenPreview {
            has_user: true,
            access_token: json(&self.access_token_claims(Subject::User(&family), allowed, key, now))?,
            id_token: id_token.transpose()?,
            user_info: user_info.transpose()?,
        })
    }
}

fn json(claims: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(claims)
}
