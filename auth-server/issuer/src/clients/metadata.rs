//! The metadata by which a client describes itself (RFC 7591 §2, OpenID Connect Dynamic Client Registration
//! 1.0 §2).

mod mapping;
mod members;

use foundation::clock::Timestamp;
use foundation::names;
use identity::clients::Client;
use members::Members;
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

/// The grant type of services.
pub(crate) const CLIENT_CREDENTIALS: &str = "client_credentials";
/// The grant types of all other clients.
pub(crate) const CODE_GRANTS: [&str; 2] = ["authorization_code", "refresh_token"];
/// The time within which a client that no administrator registered must get its first code or token.
pub(crate) const UNUSED_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// The metadata that a client asks for. Members that this issuer does not know are ignored, as are grant
/// types and scopes.
#[derive(Clone, Debug, Default, ToSchema)]
#[schema(example = json!({ "client_name": "My app", "redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "none" }))]
pub struct ClientMetadata {
    /// The redirect URIs; required unless the client is a service.
    #[schema(nullable = false)]
    pub redirect_uris: Option<Vec<String>>,
    /// `none`, `client_secret_basic` (the default), `client_secret_post` or `private_key_jwt`.
    #[schema(nullable = false)]
    pub token_endpoint_auth_method: Option<String>,
    /// `authorization_code` (the default), `refresh_token`; for a service `client_credentials` alone. Others
    /// are ignored.
    #[schema(nullable = false)]
    pub grant_types: Option<Vec<String>>,
    /// `code` (the default). Others are ignored.
    #[schema(nullable = false)]
    pub response_types: Option<Vec<String>>,
    /// The name on the consent page; by default the `client_id`.
    #[schema(nullable = false)]
    pub client_name: Option<String>,
    /// The scope that the client may request, without those that only administrators register; by default all
    /// of the others.
    #[schema(nullable = false)]
    pub scope: Option<String>,
    /// The public keys of a client that authenticates by `private_key_jwt`: a JWK set.
    #[schema(value_type = Object, required = false)]
    pub jwks: Option<Value>,
    /// The URL of such a JWK set, in place of `jwks`.
    #[schema(nullable = false)]
    pub jwks_uri: Option<String>,
    /// `web` (the default) or `native`.
    #[schema(nullable = false)]
    pub application_type: Option<String>,
    /// The URIs to which the browser may return after a logout.
    #[schema(nullable = false)]
    pub post_logout_redirect_uris: Option<Vec<String>>,
    /// The URL that gets a logout token when a session of the client ends.
    #[schema(nullable = false)]
    pub backchannel_logout_uri: Option<String>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    #[schema(nullable = false)]
    pub require_pushed_authorization_requests: Option<bool>,
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    #[schema(nullable = false)]
    pub dpop_bound_access_tokens: Option<bool>,
    /// `RS256` if `/userinfo` is to answer with a signed JWT, whatever a request accepts; otherwise absent.
    #[schema(nullable = false)]
    pub userinfo_signed_response_alg: Option<String>,
    /// For a change of the registration, its `client_id` (RFC 7592 §2.2).
    #[schema(nullable = false)]
    pub client_id: Option<String>,
    /// For a change of the registration, its present secret, which may be left out.
    #[schema(nullable = false)]
    pub client_secret: Option<String>,
}

/// The reason why metadata are not acceptable (RFC 7591 §3.2.2). The messages address the developer of the
/// client.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// A redirect URI is not acceptable.
    #[error("{0}")]
    InvalidRedirectUri(String),
    /// Another member is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// The metadata have a software statement, and no party is trusted to sign them (RFC 7591 §2.3).
    #[error("this issuer accepts no software statements: send the metadata without it")]
    UnapprovedStatement,
}

impl From<String> for MetadataError {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

/// The value of `token_endpoint_auth_method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

names! {
    AuthMethod:
    None = "none",
    ClientSecretBasic = "client_secret_basic",
    ClientSecretPost = "client_secret_post",
    PrivateKeyJwt = "private_key_jwt",
}

impl AuthMethod {
    /// Returns a method by which the client can authenticate.
    pub(crate) const fn of(client: &Client) -> Self {
        match (client.kind.is_confidential(), client.has_keys()) {
            (false, _) => Self::None,
            (true, true) => Self::PrivateKeyJwt,
            (true, false) => Self::ClientSecretBasic,
        }
    }
}

impl ClientMetadata {
    /// Parses a JSON object. Fails with [`MetadataError::Invalid`] if it is none or names a member twice, or
    /// if a member has another type, and with [`MetadataError::UnapprovedStatement`] if it has a software
    /// statement. `null` and an empty text or list count as absent.
    pub fn parse(text: &[u8]) -> Result<Self, MetadataError> {
        let mut members = Members::read(text)?;
        if members.has("software_statement") {
            return Err(MetadataError::UnapprovedStatement);
        }
        Ok(Self::read(&mut members)?)
    }

    fn read(members: &mut Members) -> Result<Self, String> {
        Ok(Self {
            redirect_uris: members.list("redirect_uris")?,
            token_endpoint_auth_method: members.text("token_endpoint_auth_method")?,
            grant_types: members.list("grant_types")?,
            response_types: members.list("response_types")?,
            client_name: members.text("client_name")?,
            scope: members.text("scope")?,
            jwks: members.object("jwks")?,
            jwks_uri: members.text("jwks_uri")?,
            application_type: members.text("application_type")?,
            post_logout_redirect_uris: members.list("post_logout_redirect_uris")?,
            backchannel_logout_uri: members.text("backchannel_logout_uri")?,
            require_pushed_authorization_requests: members.flag("require_pushed_authorization_requests")?,
            dpop_bound_access_tokens: members.flag("dpop_bound_access_tokens")?,
            userinfo_signed_response_alg: members.text("userinfo_signed_response_alg")?,
            client_id: members.text("client_id")?,
            client_secret: members.text("client_secret")?,
        })
    }

    /// Returns the secret in a change of the client. Fails if the change is not for this client, or its
    /// secret another one (RFC 7592 §2.2).
    pub(crate) fn check_identity(
        &self,
        client: &Client,
        now: Timestamp,
    ) -> Result<Option<String>, MetadataError> {
        if self.client_id.as_deref() != Some(&client.id) {
            return Err("client_id must be that of the registration".to_owned().into());
        }
        let is_valid = |secret: &String| client.secrets.find_valid(secret, now).is_some();
        match self.client_secret.as_ref().is_none_or(is_valid) {
            true => Ok(self.client_secret.clone()),
            false => Err("client_secret is not a secret of the client".to_owned().into()),
        }
    }
}
