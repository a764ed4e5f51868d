//! The grants of RFC 6749, each in a module of its own. The module `oxide` has the checks of the
//! authorization code grant in the order of oxide-auth's state machines.

pub mod authorization;
mod authorization_code;
mod authorization_error;
mod client_credentials;
mod device_authorization;
mod device_code;
pub mod device_decision;
pub mod end_session;
mod id_tokens;
pub mod interaction;
mod introspection;
mod lifetimes;
mod oxide;
mod preview;
mod proofs;
mod pushed_requests;
mod refresh_token;
mod requests;
mod revocation;
mod tokens;
mod user_info;

pub use authorization_error::{AuthorizationError, ErrorResponse};
pub use device_authorization::{
    DEVICE_PAGE, DeviceAuthorization, DeviceAuthorizationRequest, DeviceAuthorizationResponse,
};
pub use device_code::DEVICE_CODE;
pub use id_tokens::IdTokenHint;
pub use introspection::Introspection;
pub use lifetimes::{TokenLifetimeSettings, TokenLifetimes};
pub use preview::{PreviewRefusal, PreviewRequest, Previewer, TokenPreview};
pub use pushed_requests::{PushedRequest, PushedRequestMode, ReceivedRequest};
pub use requests::{AuthorizationRequest, EndSessionRequest, PresentedTokenRequest, TokenRequest};
pub use tokens::TokenTerms;
pub use user_info::UserInfo;

use crate::clients::assertions::AssertionAudience;
use crate::clients::documents::Documents;
use crate::clients::published_keys::PublishedKeys;
use crate::keys::{Fetches, Keyring};
use crate::refresh_tokens::RefreshTokens;
use crate::token_error::TokenError;
use ::revocation::{RevocationMirror, RevokingTx};
use access_tokens::Verifier;
use audit::events::{Event, EventRecorder};
use dpop::Proofs;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use identity::clients::{Client, Clients};
use identity::end_reason::EndReason;
use identity::refresh_families::{self, Selection};
use serde::Serialize;
use std::time::Duration;
use storage::db::{self, Db};
use utoipa::ToSchema;

/// Issues authorization codes and tokens.
pub struct Grants {
    /// The database of codes and refresh token families.
    pub db: Db,
    /// The registered clients.
    pub clients: Clients,
    /// The keys that clients publish at their `jwks_uri`.
    pub published_keys: PublishedKeys,
    /// Announces revocations to every process.
    pub revocations: RevocationMirror,
    /// Records events that a client can cause in any number.
    pub events: EventRecorder,
    /// The signing keys.
    pub keys: Keyring,
    /// The clients that fetched the key set.
    pub key_set_fetches: Fetches,
    /// Derives refresh tokens.
    pub refresh_tokens: RefreshTokens,
    /// Verifies access tokens as the API does.
    pub verifier: Verifier<Keyring>,
    /// Accepts proofs of possession, each once.
    pub proofs: Proofs,
    /// The issuer's URL, the `iss` of access tokens.
    pub issuer: String,
    /// The `aud` of access tokens.
    pub audience: String,
    /// The base URL. It names the API too if both have one origin, whatever `aud` the tokens have.
    pub base_url: String,
    /// The lifetimes of codes, tokens and the JWKS.
    pub lifetimes: TokenLifetimes,
    /// The longest lifetime of a session. ID tokens serve as hints for so long after their key was retired.
    pub session_lifetime: Duration,
    /// Whether clients can, or must, push their authorization requests (RFC 9126 §5).
    pub pushed_requests: PushedRequestMode,
    /// The device authorization grant (RFC 8628); `None` if it is turned off.
    pub device_authorization: Option<DeviceAuthorization>,
    /// The values of `aud` that client assertions may have.
    pub assertion_audience: AssertionAudience,
    /// The clients that describe themselves by documents.
    pub documents: Documents,
}

/// The message for a request for tokens of another resource.
const ONE_RESOURCE: &str = "this issuer gives tokens for one resource only, which its documentation names";

impl Grants {
    /// Returns the names of the API in `resource` (RFC 8707 §2): the audience of all access tokens and, if it
    /// differs, the base URL. The metadata of the API names its base URL (RFC 9728 §2), because clients
    /// refuse metadata that names another URL than they called (§3.3). Both give tokens with the same `aud`,
    /// to which RFC 8707 §2 lets an issuer map the resource.
    pub fn resources(&self) -> Vec<&str> {
        let is_same = without_slash(&self.audience) == without_slash(&self.base_url);
        let base_url = (!is_same).then_some(self.base_url.as_str());
        [self.audience.as_str()].into_iter().chain(base_url).collect()
    }

    /// Returns whether access tokens for these resources are issued: each is a name of the API, with or
    /// without a slash at the end. A request may name none.
    fn issues_tokens_for(&self, resources: &[String]) -> bool {
        let names = self.resources();
        let is_name = |resource: &String| {
            names
                .iter()
                .any(|name| without_slash(name) == without_slash(resource))
        };
        resources.iter().all(is_name)
    }

    /// Fails with `invalid_target` if a token request is for another resource.
    pub fn check_resource(&self, resources: &[String]) -> Result<(), TokenError> {
        match self.issues_tokens_for(resources) {
            true => Ok(()),
            false => Err(TokenError::InvalidTarget(ONE_RESOURCE)),
        }
    }

    /// Fails if a client is described by a document that is no longer accepted, or that was last fetched over
    /// seven days ago.
    pub async fn check_document(&self, client: &Client, now: Timestamp) -> Result<(), TokenError> {
        if !self.documents.accepts(client) {
            return Err(TokenError::InvalidClient);
        }
        match self.documents.is_current(client, now).await? {
            true => Ok(()),
            false => Err(TokenError::OutdatedDocument),
        }
    }

    /// Revokes a family, whose code or refresh token was used twice, and records the event of this use. On
    /// return the revocation is durable, and this process accepts none of the family's access tokens.
    async fn revoke_family(&self, id: &str, cause: Event, context: &RequestContext) -> Result<(), db::Error> {
        let mut tx = RevokingTx::begin(&self.db, &self.revocations).await?;
        let family = Selection::Family(id);
        refresh_families::revoke_repeatedly(&mut tx, family, EndReason::UsedTwice, &self.events, context)
            .await?;
        // A client of one user can cause this in any number: it gets a code, and uses it twice.
        self.events.record_in(&mut tx, cause, context).await?;
        tx.commit().await
    }
}

/// A successful token response (RFC 6749 §5.1).
#[derive(Serialize, ToSchema)]
pub struct TokenResponse {
    /// A JWT (RFC 9068).
    pub access_token: String,
    /// `Bearer`, or `DPoP` if the access token is bound to a key (RFC 9449 §5).
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// The lifetime of the access token in seconds.
    #[schema(example = 600)]
    pub expires_in: u64,
    /// A refresh token, valid for one use. Absent in responses to a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub refresh_token: Option<String>,
    /// The ID token (OpenID Connect Core §2), if the scope contains `openid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub id_token: Option<String>,
    /// The scope of the access token.
    pub scope: Scope,
}

fn without_slash(uri: &str) -> &str {
    uri.strip_suffix('/').unwrap_or(uri)
}
