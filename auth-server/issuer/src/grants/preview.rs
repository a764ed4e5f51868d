//! The claims of the tokens that an app would get for a user, for an administrator who wants to see them.

use super::tokens::{Subject, TokenGrant, TokenTerms};
use super::{Grants, UserInfo};
use crate::clients::documents::Documents;
use foundation::clock::Timestamp;
use foundation::email::Email;
use foundation::ids::TextId;
use foundation::random;
use foundation::scope::{self, Scope};
use identity::authentication_methods::{AuthenticationMethods, SignIn};
use identity::clients::{self, Client, ClientType};
use identity::refresh_families::{Epochs, Family};
use identity::users::account::{self, Account};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use storage::db::{self, Db};
use utoipa::ToSchema;

/// The example of a key's thumbprint in RFC 9449 §6.1.
const EXAMPLE_THUMBPRINT: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

/// The app, the user and the scope whose tokens an administrator wants to see, as they were entered.
#[derive(Clone, Copy, Debug)]
pub struct PreviewRequest<'a> {
    /// The `client_id` of the app.
    pub client_id: &'a str,
    /// The e-mail address of the user. A service needs none.
    pub email: &'a str,
    /// The scope that the app asks for. If it is empty, the default scope of the app.
    pub scope: &'a str,
}

/// The claims of the tokens that an app would get, or the reason why it would get none. The times are those
/// of now; the ids of tokens, grants and sessions, the epoch of the user, the key in `cnf` and `at_hash` are
/// examples.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct TokenPreview {
    /// Whether they are the tokens of a user and not of a service.
    #[serde(skip)]
    pub has_user: bool,
    /// The claims of the access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub access_token: Option<Value>,
    /// The claims of the ID token, with the scope `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub id_token: Option<Value>,
    /// The response of `/userinfo`, with the scope `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub user_info: Option<Value>,
    /// The reason why the app would get no tokens. There are no claims then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub refusal: Option<PreviewRefusal>,
}

/// The reason why an app would get no tokens.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum PreviewRefusal {
    /// There is no such app.
    #[error("no app has this client id")]
    NoClient,
    /// There is no such user.
    #[error("no user has this address")]
    NoUser,
    /// The app or the account is disabled.
    #[error("the app or the account is disabled")]
    Disabled,
    /// The app may not ask for this scope, but for the parts of another one.
    #[error("the app may ask only for these scopes: {0}")]
    Scope(Scope),
    /// The document of the app is not accepted, or is too old.
    #[error("the issuer does not accept the document of this app, or could not read it for a week")]
    Outdated,
}

impl Serialize for PreviewRefusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Previews tokens. Signs and stores nothing.
#[derive(Clone, Copy)]
pub struct Previewer<'a> {
    /// The database of users and clients.
    pub db: &'a Db,
    /// The clients that describe themselves by documents.
    pub documents: &'a Documents,
    /// The issuer, the audience and the lifetime of the tokens.
    pub terms: TokenTerms<'a>,
}

impl Grants {
    /// Returns the previewer of the tokens of this issuer.
    pub fn previewer(&self) -> Previewer<'_> {
        Previewer {
            db: &self.db,
            documents: &self.documents,
            terms: self.terms(),
        }
    }
}

impl Previewer<'_> {
    /// Returns the claims of the tokens that the app would get if the user signed in now, with the factors
    /// that the account needs, and gave it access with this scope. Those of a service are of the token that
    /// it gets for itself.
    pub async fn preview(
        self,
        request: PreviewRequest<'_>,
        now: Timestamp,
    ) -> Result<TokenPreview, db::Error> {
        let id: Result<TextId, _> = request.client_id.trim().parse();
        let client = match id {
            Ok(id) => clients::find(self.db, id.as_ref()).await?,
            Err(_) => None,
        };
        let Some(client) = client.filter(|client| !client.has_expired(now)) else {
            return Ok(PreviewRefusal::NoClient.into());
        };
        if !self.documents.accepts(&client) || !self.documents.is_current(&client, now).await? {
            return Ok(PreviewRefusal::Outdated.into());
        }
        let Some(scope) = scope_of_request(&client, request.scope) else {
            return Ok(PreviewRefusal::Scope(client.scope).into());
        };
        let account = match (client.kind, Email::parse(request.email.trim())) {
            (ClientType::Service, _) | (_, Err(_)) => None,
            (_, Ok(email)) => account::find_by_email(self.db, &email).await?,
        };
        let is_disabled = |account: &Account| account.disabled_at.is_some();
        if client.disabled_at.is_some() || account.as_ref().is_some_and(is_disabled) {
            return Ok(PreviewRefusal::Disabled.into());
        }
        Ok(match (&account, client.kind) {
            (Some(account), _) => self.tokens_of_user(&client, account, scope, now),
            (None, ClientType::Service) => self.token_of_service(&client, scope, now),
            (None, _) => PreviewRefusal::NoUser.into(),
        })
    }

    fn token_of_service(self, client: &Client, scope: Scope, now: Timestamp) -> TokenPreview {
        let (subject, key) = (Subject::Service(client), example_key(client));
        TokenPreview {
            access_token: Some(json!(self.terms.access_token_claims(subject, scope, key, now))),
            ..TokenPreview::default()
        }
    }

    fn tokens_of_user(
        self,
        client: &Client,
        account: &Account,
        scope: Scope,
        now: Timestamp,
    ) -> TokenPreview {
        let (user, key) = (&account.user, example_key(client));
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
        let (terms, subject) = (self.terms, Subject::User(&family));
        let is_openid = allowed.contains(scope::OPENID);
        let user_info = UserInfo::new(user.clone(), allowed);
        TokenPreview {
            has_user: true,
            access_token: Some(json!(terms.access_token_claims(subject, allowed, key, now))),
            id_token: is_openid.then(|| json!(terms.id_token_claims(&grant, "", now))),
            user_info: is_openid.then(|| match client.signed_user_info {
                true => json!(terms.signed_claims(&client.id, &user_info)),
                false => json!(user_info),
            }),
            refusal: None,
        }
    }
}

impl From<PreviewRefusal> for TokenPreview {
    fn from(refusal: PreviewRefusal) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }
}

/// Returns the thumbprint of the key to which the tokens of the client would be bound, as an example.
fn example_key(client: &Client) -> Option<&'static str> {
    client.dpop_bound_access_tokens.then_some(EXAMPLE_THUMBPRINT)
}

/// Returns the scope of a request of the client: without a name, its default scope. Returns `None` if it
/// cannot ask for this scope.
fn scope_of_request(client: &Client, scope: &str) -> Option<Scope> {
    let scope = match scope.trim() {
        "" => Some(client.default_scope),
        names => names.parse().ok(),
    };
    scope.filter(|scope| !scope.is_empty() && client.scope.covers(*scope))
}
