//! Registrations of clients, before they are checked and stored.

use super::rules::{self, RegistrationFlaw};
use foundation::clock::Timestamp;
use foundation::scope::{self, Scope};
use foundation::secret::Secret;
use http_client::ForeignUrl;
use identity::clients::{Client, ClientOrigin, ClientType, Secrets};
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;

/// The time in which a refresh can be repeated for a client whose refresh token is in a cookie, unless the
/// registration names another: the tabs of a browser share the cookie and may refresh at the same moment.
pub(super) const COOKIE_RETRY_WINDOW: Duration = Duration::from_secs(10);

/// A client to register.
#[derive(Clone, Debug, ToSchema)]
#[schema(as = ClientRegistration)]
pub struct Registration {
    /// `client_id`.
    pub id: String,
    /// The name on the consent page.
    pub name: String,
    /// The type of client.
    #[schema(rename = "type")]
    pub kind: ClientType,
    /// The registered redirect URIs.
    #[schema(required = false)]
    pub redirect_uris: Vec<String>,
    /// The URIs to which the browser may return after a logout.
    #[schema(required = false)]
    pub post_logout_redirect_uris: Vec<String>,
    /// The URL that gets a logout token when a session of the client ends (OpenID Connect Back-Channel Logout
    /// 1.0).
    #[schema(value_type = String, format = "uri", required = false)]
    pub backchannel_logout_uri: Option<ForeignUrl>,
    /// The scope that the client may request.
    pub scope: Scope,
    /// The scope of a request that names no scope. If unset, the part of `posts:read profile:read` that is in
    /// `scope`, or all of `scope` if there is no such part.
    #[schema(nullable = false)]
    pub default_scope: Option<Scope>,
    /// Whether the operator of this issuer runs the client, rather than a third party.
    #[schema(required = false)]
    pub first_party: bool,
    /// Whether a browser keeps the refresh tokens of the client, a single-page app, in a cookie.
    #[schema(required = false)]
    pub refresh_cookie: bool,
    /// The time after a refresh in which it can be repeated, in whole seconds. If unset, 10 s with a cookie,
    /// otherwise zero.
    #[schema(value_type = i64, required = false, minimum = 0, maximum = 60)]
    pub refresh_retry_window: Option<Duration>,
    /// The public keys with which a confidential client authenticates, in place of a secret: a JWK set.
    #[schema(value_type = Object, required = false)]
    pub jwks: Option<Value>,
    /// The URL of such a JWK set, in place of `jwks`.
    #[schema(value_type = String, format = "uri", required = false)]
    pub jwks_uri: Option<ForeignUrl>,
    /// Whether the client must push its authorization requests (RFC 9126 §6).
    #[schema(required = false)]
    pub require_pushed_authorization_requests: bool,
    /// Whether the client gets only access tokens that are bound to a key (RFC 9449 §5.2).
    #[schema(required = false)]
    pub dpop_bound_access_tokens: bool,
    /// Whether the client may use the device authorization grant (RFC 8628). A native client that does may
    /// have no redirect URI.
    #[schema(required = false)]
    pub device_authorization: bool,
    /// Whether `/userinfo` answers the client with a signed JWT. Only clients that describe themselves choose
    /// it.
    #[schema(ignore)]
    pub signed_user_info: bool,
}

impl Registration {
    /// Returns the registration of a client of this type, with the defaults of all other members.
    pub fn new(id: String, name: String, kind: ClientType, scope: Scope) -> Self {
        Self {
            id,
            name,
            kind,
            redirect_uris: Vec::new(),
            post_logout_redirect_uris: Vec::new(),
            backchannel_logout_uri: None,
            scope,
            default_scope: None,
            first_party: false,
            refresh_cookie: false,
            refresh_retry_window: None,
            jwks: None,
            jwks_uri: None,
            require_pushed_authorization_requests: false,
            dpop_bound_access_tokens: false,
            device_authorization: false,
            signed_user_info: false,
        }
    }

    /// Fails if the issuer with the URL `issuer` would not register the client.
    pub fn check(&self, issuer: &str) -> Result<(), RegistrationFlaw> {
        let (client, _) = self.clone().into_unchecked(Timestamp::from_micros(0));
        rules::check(&client, issuer)
    }

    /// Checks the registration by an administrator. Returns the client and, if it is confidential, its new
    /// secret.
    pub(crate) fn into_client(
        self,
        issuer: &str,
        now: Timestamp,
    ) -> Result<(Client, Option<Secret>), RegistrationFlaw> {
        let (client, secret) = self.into_unchecked(now);
        rules::check(&client, issuer)?;
        Ok((client, secret))
    }

    /// Returns the client of a registration that is still to be checked and, if it is confidential, its new
    /// secret.
    pub(super) fn into_unchecked(self, now: Timestamp) -> (Client, Option<Secret>) {
        let (secrets, secret) =
            match self.kind.is_confidential() && self.jwks.is_none() && self.jwks_uri.is_none() {
                true => {
                    let (secrets, secret) = Secrets::generate(now);
                    (secrets, Some(secret))
                }
                false => (Secrets::default(), None),
            };
        let client = Client {
            default_scope: self.default_scope.unwrap_or_else(|| default_part(&self.scope)),
            id: self.id,
            name: self.name,
            kind: self.kind,
            secrets,
            jwks: self.jwks,
            jwks_uri: self.jwks_uri.map(String::from),
            redirect_uris: self.redirect_uris,
            post_logout_redirect_uris: self.post_logout_redirect_uris,
            backchannel_logout_uri: self.backchannel_logout_uri.map(String::from),
            scope: self.scope,
            first_party: self.first_party,
            refresh_cookie: self.refresh_cookie,
            refresh_retry_window: self.refresh_retry_window.unwrap_or(match self.refresh_cookie {
                true => COOKIE_RETRY_WINDOW,
                false => Duration::ZERO,
            }),
            epoch: 0,
            created_at: now,
            disabled_at: None,
            require_pushed_authorization_requests: self.require_pushed_authorization_requests,
            dpop_bound_access_tokens: self.dpop_bound_access_tokens,
            device_authorization: self.device_authorization,
            signed_user_info: self.signed_user_info,
            origin: ClientOrigin::Administrator,
            unused_until: None,
            registration_token_hash: None,
            token_endpoint_auth_method: None,
            identity_changed_at: None,
        };
        (client, secret)
    }
}

/// Returns the part of a scope that is in [`scope::DEFAULT`], or all of it if there is no such part.
pub(super) fn default_part(scope: &Scope) -> Scope {
    let default: Scope = scope::DEFAULT.parse().unwrap_or_default();
    let part = scope.intersection(default);
    if part.is_empty() { *scope } else { part }
}
