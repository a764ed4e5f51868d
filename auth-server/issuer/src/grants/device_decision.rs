//! The decision of a user about the request of a device (RFC 8628 §3.3). The user enters the user code, sees
//! which request it is about, and then allows or denies it.

use super::Grants;
use super::device_authorization::DeviceAuthorization;
use crate::device_requests::{self, OpenRequest, UserCode};
use audit::events::{Event, EventName};
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::scope::Scope;
use foundation::secret;
use identity::clients::Client;
use identity::consents;
use identity::sessions::Session;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use storage::db::{self, Tx};
use storage::expiring::{AttemptDecision, Window};
use storage::redis;

/// The limit of wrong user codes, of one user and from one network.
const WRONG_CODES: Window = Window::throttle(10, Duration::from_secs(15 * 60));
/// The name under which requests are sealed.
const SEAL_NAME: &str = "device request";

/// A request of a device, as the confirmation page shows it.
pub struct ShownRequest {
    /// The request, sealed for the decision in this session.
    pub sealed: String,
    /// The client that asks.
    pub client: Arc<Client>,
    /// The requested scope.
    pub scope: Scope,
    /// The IP address that asked.
    pub address: Option<String>,
    /// The time at which it asked.
    pub created_at: Timestamp,
}

/// The request that a confirmation page is about, and the session in which it was shown.
#[derive(Serialize, Deserialize)]
struct Shown {
    id: String,
    client_id: String,
    scope: String,
    session_id: i64,
}

/// The reason why no request is shown for a user code.
#[derive(Debug, thiserror::Error)]
pub enum UserCodeError {
    /// No request that can be decided has the code.
    #[error("the code is unknown, expired or used")]
    Unknown,
    /// Too many wrong codes came from the user or the network.
    #[error("too many wrong codes were entered; try again in {}", foundation::duration::in_words(*.retry_after))]
    TooMany {
        /// The time until another code is accepted.
        retry_after: Duration,
    },
    /// Many codes are being checked at this moment.
    #[error("many codes are being checked at this moment")]
    Busy,
    /// The store that counts wrong codes is unavailable. No code is accepted without it.
    #[error(transparent)]
    StoreUnavailable(#[from] redis::Unavailable),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

impl Grants {
    /// Returns the request with this user code, for the user of the session to decide. Fails if there is no
    /// such request, or if the user or the network entered too many wrong codes.
    pub async fn find_device_request(
        &self,
        user_code: &UserCode,
        session: &Session,
        context: &RequestContext,
    ) -> Result<ShownRequest, UserCodeError> {
        let grant = self.device_authorization.as_ref().ok_or(UserCodeError::Unknown)?;
        let counts = [
            format!("user codes of {}", session.user.id),
            format!("user codes from {}", context.network()),
        ]
        .map(|key| WRONG_CODES.count(key));
        match grant.store.begin_attempt(&counts, context.now).await?.0 {
            AttemptDecision::Begun => {}
            AttemptDecision::Busy => return Err(UserCodeError::Busy),
            AttemptDecision::Refused { until, .. } => {
                let retry_after = until.since(context.now);
                return Err(UserCodeError::TooMany { retry_after });
            }
        }
        let found = self.find_open(grant, user_code, context.now).await;
        match &found {
            Ok(None) => drop(grant.store.attempt_failed(&counts, context.now).await?),
            Ok(Some(_)) | Err(_) => grant.store.attempt_canceled(&counts, context.now).await?,
        }
        let (request, client) = found?.ok_or(UserCodeError::Unknown)?;
        Ok(grant.show(request, client, session))
    }

    /// Returns the open request with this user code and its client.
    async fn find_open(
        &self,
        grant: &DeviceAuthorization,
        user_code: &UserCode,
        now: Timestamp,
    ) -> Result<Option<(OpenRequest, Arc<Client>)>, db::Error> {
        let mac = user_code.mac(&grant.user_codes);
        let Some(request) = device_requests::find_open(&self.db, &mac, now).await? else {
            return Ok(None);
        };
        let client = self.clients.find(&request.client_id, now).await?;
        let client = client.filter(|client| client.device_authorization && client.disabled_at.is_none());
        Ok(client.map(|client| (request, client)))
    }

    /// Records that the user of the session allows or denies the request that a page showed in this session.
    /// Returns false, without effect, if it can no longer be decided: it is decided or expired, the client
    /// may not use it any more, or the session has ended.
    pub async fn decide_device_request(
        &self,
        sealed: &str,
        is_allowed: bool,
        session: &Session,
        context: &RequestContext,
    ) -> Result<bool, db::Error> {
        let grant = self.device_authorization.as_ref();
        let Some(shown) = grant.and_then(|grant| grant.open(sealed, session)) else {
            return Ok(false);
        };
        let Some(client) = self.clients.find(&shown.client_id, context.now).await? else {
            return Ok(false);
        };
        let mut tx = self.db.begin().await?;
        let is_decided = match is_allowed {
            true => allow(&mut tx, &shown, &client, session, context).await?,
            false => device_requests::deny(&mut tx, &shown.id, context.now).await?,
        };
        if !is_decided {
            return Ok(false);
        }
        let event = match is_allowed {
            true => Event::success(EventName::Consent).detail(shown.scope),
            false => Event::failure(EventName::Consent),
        };
        let event = event.user(session.user.id).client(&shown.client_id);
        self.events.record_in(&mut tx, event, context).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Records the consent and the permission. Returns false if the request can no longer be decided or the
/// session has ended; the transaction must then be rolled back. The lock keeps the session and the user's
/// epoch until the commit.
async fn allow(
    tx: &mut Tx,
    shown: &Shown,
    client: &Client,
    session: &Session,
    context: &RequestContext,
) -> Result<bool, db::Error> {
    if !session.authority().lock_session(tx, context.now).await? {
        return Ok(false);
    }
    let scope: Scope = shown.scope.parse().unwrap_or_default();
    let Some(added) = consents::add_scope(tx, session.user.id, client, &scope, context.now).await? else {
        return Ok(false);
    };
    device_requests::allow(tx, &shown.id, session, &added.consent_id, context.now).await
}

impl DeviceAuthorization {
    /// Returns what the confirmation page shows in a session.
    fn show(&self, request: OpenRequest, client: Arc<Client>, session: &Session) -> ShownRequest {
        let shown = Shown {
            id: request.id,
            client_id: request.client_id,
            scope: request.scope,
            session_id: session.id,
        };
        let text = serde_json::to_vec(&shown).unwrap_or_default();
        ShownRequest {
            sealed: secret::encode(&self.seal.seal(SEAL_NAME, &text)),
            client,
            scope: shown.scope.parse().unwrap_or_default(),
            address: request.address,
            created_at: request.created_at,
        }
    }

    /// Returns the request that a page showed in this session; `None` if the text is not from such a page.
    fn open(&self, sealed: &str, session: &Session) -> Option<Shown> {
        let text = self.seal.open(SEAL_NAME, &secret::decode(sealed)?).ok()?;
        let shown: Shown = serde_json::from_slice(&text).ok()?;
        (shown.session_id == session.id).then_some(shown)
    }
}
