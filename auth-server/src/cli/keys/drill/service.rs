//! The service client of a drill. Each drill registers its own, so that its tokens can read published posts and nothing
//! else, and so that no secret is kept: only the drill's memory holds it.

use super::super::super::{Error, Services};
use foundation::context::RequestContext;
use foundation::random;
use foundation::secret::Secret;
use identity::grants::clients::ClientType;
use issuer::clients::{self, Registration};

/// The beginning of the ids of these clients.
const ID_PREFIX: &str = "keys-drill-";
/// The only scope of these clients.
pub(super) const SCOPE: &str = "posts:read";

/// The credentials of a registered service client.
#[derive(Debug)]
pub(super) struct ServiceClient {
    /// `client_id`.
    pub(super) id: String,
    /// `client_secret`.
    pub(super) secret: Secret,
}

/// Registers a client with an id of its own.
pub(super) async fn register(services: &Services) -> Result<ServiceClient, Error> {
    let registration = Registration {
        id: format!("{ID_PREFIX}{}", random::uuid()),
        name: "Drill of the signing keys".to_owned(),
        kind: ClientType::Service,
        redirect_uris: Vec::new(),
        post_logout_redirect_uris: Vec::new(),
        backchannel_logout_uri: None,
        scope: SCOPE.parse().unwrap_or_default(),
        default_scope: None,
        first_party: true,
        refresh_cookie: false,
        require_pushed_authorization_requests: false,
        refresh_retry_window: None,
        jwks: None,
        jwks_uri: None,
        dpop_bound_access_tokens: false,
        device_authorization: false,
        signed_user_info: false,
    };
    let context = RequestContext::without_request();
    let (client, secret) = clients::register(&services.db, &services.issuer, registration, &context).await?;
    let secret = secret.ok_or_else(|| Error::Drill("the service client got no secret".to_owned()))?;
    Ok(ServiceClient {
        id: client.id,
        secret,
    })
}

/// Disables the client, which ends its tokens.
pub(super) async fn disable(services: &Services, id: &str) -> Result<(), Error> {
    let context = RequestContext::without_request();
    clients::disable(&services.db, &services.revocations, id, &context).await?;
    Ok(())
}
