//! The device authorization request (RFC 8628 §3.1): a device without a browser gets a device code for itself
//! and a user code, which its user enters on a page of the issuer.

use super::Grants;
use super::requests::{allowed_scope, parse_scope};
use crate::device_requests::{self, LIFETIME, POLL_INTERVAL, UserCode};
use crate::token_error::TokenError;
use aws_lc_rs::hmac;
use foundation::context::RequestContext;
use foundation::sealing::SealingKey;
use foundation::secret::Secret;
use identity::clients::Client;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use storage::db;
use storage::expiring::{ExpiringStore, Window};
use utoipa::ToSchema;

/// The path of the page on which a user enters the user code.
pub const DEVICE_PAGE: &str = "/device";

/// The limit of the requests of one client from one network, which bounds those that are live.
const PER_CLIENT_AND_NETWORK: Window = Window::throttle(100, LIFETIME);

/// The most user codes that are tried for a request. A code is taken by about one request in ten thousand, if
/// there are a million.
const MAX_TRIES: usize = 3;

/// The keys and counts of the device authorization grant.
pub struct DeviceAuthorization {
    /// Authenticates the user codes in the database.
    pub(super) user_codes: hmac::Key,
    /// Seals the requests that confirmation pages are about.
    pub(super) seal: SealingKey,
    /// Counts requests and wrong user codes.
    pub(super) store: ExpiringStore,
}

/// A device authorization request (RFC 8628 §3.1).
#[derive(Deserialize, ToSchema)]
pub struct DeviceAuthorizationRequest {
    /// The identifier of a client that does not authenticate by HTTP Basic.
    pub client_id: Option<String>,
    /// The secret of a confidential client that does not authenticate by HTTP Basic.
    pub client_secret: Option<String>,
    /// `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`, with `client_assertion`.
    pub client_assertion_type: Option<String>,
    /// The signed assertion of a confidential client with keys (RFC 7523).
    pub client_assertion: Option<String>,
    /// The requested scopes, separated by spaces. By default those of the client's registration.
    pub scope: Option<String>,
    /// The resource that the access tokens are for (RFC 8707): the URL of the API, which is the default.
    #[schema(required = false)]
    pub resource: Vec<String>,
}

/// The response to a device authorization request (RFC 8628 §3.2).
#[derive(Serialize, ToSchema)]
pub struct DeviceAuthorizationResponse {
    /// The code for the token request.
    pub device_code: String,
    /// The code to display to the user.
    #[schema(example = "BCDF-GHJK")]
    pub user_code: String,
    /// The URL to display to the user.
    #[schema(example = "https://id.example.org/device", format = "uri")]
    pub verification_uri: String,
    /// The URL of the same page with the code filled in, such as for a QR code.
    #[schema(example = "https://id.example.org/device?user_code=BCDF-GHJK", format = "uri")]
    pub verification_uri_complete: String,
    /// The lifetime of both codes in seconds.
    #[schema(example = 600)]
    pub expires_in: u64,
    /// The least time between two token requests in seconds.
    #[schema(example = 5)]
    pub interval: u64,
}

impl DeviceAuthorization {
    /// Derives the key of user codes from the installation secret.
    pub fn new(secret: &SealingKey, store: ExpiringStore) -> Self {
        Self {
            user_codes: secret.mac_key("latchkey user code"),
            seal: secret.clone(),
            store,
        }
    }
}

impl Grants {
    /// Returns the device authorization grant for a client. Fails with [`TokenError::UnsupportedGrantType`]
    /// if it is turned off, and with [`TokenError::NoDeviceAuthorization`] if the registration of the client
    /// does not have it.
    pub(super) fn device_authorization_of(
        &self,
        client: &Client,
    ) -> Result<&DeviceAuthorization, TokenError> {
        let grant = self.device_authorization.as_ref();
        let grant = grant.ok_or(TokenError::UnsupportedGrantType)?;
        match client.device_authorization {
            true => Ok(grant),
            false => Err(TokenError::NoDeviceAuthorization),
        }
    }

    /// Stores a request of a device, whose client the caller has authenticated. Fails if the client may not
    /// use the grant, the scope is unknown or exceeds that of the registration, or too many requests came
    /// from the client's network.
    pub async fn authorize_device(
        &self,
        client: &Client,
        request: &DeviceAuthorizationRequest,
        context: &RequestContext,
    ) -> Result<DeviceAuthorizationResponse, TokenError> {
        let grant = self.device_authorization_of(client)?;
        self.check_resource(&request.resource)?;
        let scope = allowed_scope(client, parse_scope(request.scope.as_deref())?);
        let scope = scope.ok_or(TokenError::InvalidScope)?;
        grant.count_request(client, context).await?;
        for _ in 0..MAX_TRIES {
            let user_code = UserCode::generate();
            let mac = user_code.mac(&grant.user_codes);
            let address = context.address.map(|address| address.to_canonical().to_string());
            match device_requests::create(&self.db, mac, &client.id, scope, address, context.now).await {
                Err(db::Error::Conflict) => {}
                created => {
                    let device_code = created?.ok_or(TokenError::InvalidClient)?;
                    return Ok(self.device_response(&device_code, &user_code));
                }
            }
        }
        Err(TokenError::Unavailable("every new user code is taken".to_owned()))
    }

    fn device_response(&self, device_code: &Secret, user_code: &UserCode) -> DeviceAuthorizationResponse {
        let verification_uri = format!("{}{DEVICE_PAGE}", self.issuer);
        DeviceAuthorizationResponse {
            device_code: device_code.expose().to_owned(),
            verification_uri_complete: format!("{verification_uri}?user_code={user_code}"),
            verification_uri,
            user_code: user_code.to_string(),
            expires_in: LIFETIME.as_secs(),
            interval: POLL_INTERVAL.as_secs(),
        }
    }
}

impl DeviceAuthorization {
    /// Counts a request. Fails if the client has reached its limit in this network.
    async fn count_request(&self, client: &Client, context: &RequestContext) -> Result<(), TokenError> {
        let key = format!("device requests of {} from {}", client.id, context.network());
        let count = PER_CLIENT_AND_NETWORK.count(key);
        let refused = self.store.take(&[count], context.now).await;
        match refused.map_err(|error| TokenError::Unavailable(error.to_string()))? {
            None => Ok(()),
            Some(retry_after) => Err(TokenError::TooManyRequests {
                retry_after: retry_after.max(Duration::from_secs(1)),
            }),
        }
    }
}
