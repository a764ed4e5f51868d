//! The description of a registered client for the client itself.

use crate::clients::metadata::{AuthMethod, CLIENT_CREDENTIALS, CODE_GRANTS};
use foundation::scope::Scope;
use foundation::secret::Secret;
use identity::clients::{Client, ClientType};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The response to the registration of a client, and to requests that read or change it (RFC 7591 §3.2.1, RFC
/// 7592 §3).
#[derive(Serialize, ToSchema)]
pub struct ClientInformation {
    /// The identifier of the client.
    client_id: String,
    /// The time of the registration, in seconds since 1970 UTC.
    client_id_issued_at: i64,
    /// The secret of a client that authenticates by one. It is shown at the registration, and repeated to a
    /// client that sends it with a change; only its hash is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_secret: Option<String>,
    /// 0 beside a secret: it does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_secret_expires_at: Option<i64>,
    /// The token with which the client reads, changes and deletes its registration. Only its hash is stored.
    registration_access_token: String,
    /// The URL at which it does so.
    #[schema(format = "uri")]
    registration_client_uri: String,
    /// The registered metadata.
    #[serde(flatten)]
    metadata: RegisteredMetadata,
}

/// The metadata of a client as they are registered (RFC 7591 §2), which may differ from those that it asked
/// for.
#[derive(Serialize, ToSchema)]
pub struct RegisteredMetadata {
    /// The redirect URIs.
    redirect_uris: Vec<String>,
    /// `none`, `client_secret_basic`, `client_secret_post` or `private_key_jwt`. A secret is accepted in both
    /// ways.
    token_endpoint_auth_method: String,
    /// The grant types that the client may use.
    grant_types: &'static [&'static str],
    /// `code`; empty for a service.
    response_types: &'static [&'static str],
    /// The name on the consent page.
    client_name: String,
    /// The scope that the client may request.
    scope: Scope,
    /// The public keys of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    jwks: Option<Value>,
    /// The URL of the public keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    jwks_uri: Option<String>,
    /// `native` for an installed public app, otherwise `web`.
    application_type: &'static str,
    /// The URIs to which the browser may return after a logout.
    post_logout_redirect_uris: Vec<String>,
    /// The URL that gets logout tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    backchannel_logout_uri: Option<String>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    require_pushed_authorization_requests: bool,
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    dpop_bound_access_tokens: bool,
    /// `RS256` if `/userinfo` answers the client with a signed JWT.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    userinfo_signed_response_alg: Option<&'static str>,
}

impl ClientInformation {
    /// Describes a client of the issuer with the URL `issuer` to the holder of its registration access token,
    /// with its secret if that is known.
    pub(super) fn new(client: &Client, issuer: &str, access_token: &Secret, secret: Option<&str>) -> Self {
        Self {
            client_id: client.id.clone(),
            client_id_issued_at: client.created_at.seconds(),
            client_secret: secret.map(str::to_owned),
            client_secret_expires_at: secret.map(|_| 0),
            registration_access_token: access_token.expose().to_owned(),
            registration_client_uri: format!("{issuer}/register/{}", client.id),
            metadata: RegisteredMetadata::of(client),
        }
    }
}

impl RegisteredMetadata {
    fn of(client: &Client) -> Self {
        let (grant_types, response_types): (&[&str], &[&str]) = match client.kind {
            ClientType::Service => (&[CLIENT_CREDENTIALS], &[]),
            ClientType::Spa | ClientType::Native | ClientType::Web => (&CODE_GRANTS, &["code"]),
        };
        let auth_method = client.token_endpoint_auth_method.clone();
        Self {
            redirect_uris: client.redirect_uris.clone(),
            token_endpoint_auth_method: auth_method
                .unwrap_or_else(|| AuthMethod::of(client).as_str().to_owned()),
            grant_types,
            response_types,
            client_name: client.name.clone(),
            scope: client.scope,
            jwks: client.jwks.clone(),
            jwks_uri: client.jwks_uri.clone(),
            application_type: match client.kind {
                ClientType::Native => "native",
                ClientType::Spa | ClientType::Web | ClientType::Service => "web",
            },
            post_logout_redirect_uris: client.post_logout_redirect_uris.clone(),
            backchannel_logout_uri: client.backchannel_logout_uri.clone(),
            require_pushed_authorization_requests: client.require_pushed_authorization_requests,
            dpop_bound_access_tokens: client.dpop_bound_access_tokens,
            userinfo_signed_response_alg: client.signed_user_info.then_some("RS256"),
        }
    }
}
