//! Authorization flows. Each carries an authorization request from `/authorize` to the issue of the code. It
//! travels sealed in the URLs and forms of the pages, and is bound to the browser that began it. The server
//! stores nothing until a flow finishes, so a flood of requests cannot displace anyone's sign-in.

use crate::params::Params;
use crate::pushed_requests::RequestUri;
use foundation::clock::Timestamp;
use foundation::random;
use foundation::sealing::SealingKey;
use foundation::secret;
use foundation::secret::Secret;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use storage::expiring::ExpiringStore;
use storage::redis::Unavailable;

/// The time that a user has to sign in and consent.
pub const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// The name under which flows are sealed.
const SEAL_NAME: &str = "authorization flow";

/// Seals and opens flows. Cheap to clone.
#[derive(Clone)]
pub struct Flows {
    /// Seals the flows: the installation secret.
    pub key: SealingKey,
    /// Records the finished flows until they expire.
    pub store: ExpiringStore,
}

/// An authorization request on its way through the pages.
#[derive(Debug, Serialize, Deserialize)]
pub struct FlowRequest {
    /// The parameters of the request.
    pub params: Params,
    /// The reference of the request, if the client pushed it.
    pub request_uri: Option<RequestUri>,
    /// The time at which it arrived and began the flow.
    pub received_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Flow {
    id: String,
    request: FlowRequest,
    /// The hash of the browser's secret, in base64url.
    browser: String,
}

impl Flow {
    fn expires_at(&self) -> Timestamp {
        self.request.received_at.after(LIFETIME)
    }
}

impl Flows {
    /// Begins a flow. Returns the sealed request in base64url, bound to the browser that has the secret `browser`.
    pub fn begin(&self, request: FlowRequest, browser: &Secret) -> String {
        let flow = Flow {
            id: random::id(),
            request,
            browser: fingerprint(browser),
        };
        let text = serde_json::to_vec(&flow).unwrap_or_default();
        secret::encode(&self.key.seal(SEAL_NAME, &text))
    }

    /// Returns the request of a flow, or `None` if the flow is malformed, expired, finished or bound to another
    /// browser. Fails if the store of finished flows does not answer.
    pub async fn find(
        &self,
        sealed: &str,
        browser: &Secret,
        now: Timestamp,
    ) -> Result<Option<FlowRequest>, Unavailable> {
        let Some(flow) = self.open(sealed, browser, now) else {
            return Ok(None);
        };
        let is_finished = self.store.is_claimed(&store_key(&flow.id), now).await?;
        Ok((!is_finished).then_some(flow.request))
    }

    /// Finishes a flow. Returns its request as [`Flows::find`] does; of several concurrent calls, one gets the request
    /// and the others get `None`.
    pub async fn finish(
        &self,
        sealed: &str,
        browser: &Secret,
        now: Timestamp,
    ) -> Result<Option<FlowRequest>, Unavailable> {
        let Some(flow) = self.open(sealed, browser, now) else {
            return Ok(None);
        };
        let is_first = self
            .store
            .claim(&store_key(&flow.id), flow.expires_at(), now)
            .await?;
        Ok(is_first.then_some(flow.request))
    }

    fn open(&self, sealed: &str, browser: &Secret, now: Timestamp) -> Option<Flow> {
        let text = self.key.open(SEAL_NAME, &secret::decode(sealed)?).ok()?;
        let flow: Flow = serde_json::from_slice(&text).ok()?;
        let is_same_browser = secret::equal(flow.browser.as_bytes(), fingerprint(browser).as_bytes());
        (is_same_browser && flow.expires_at() > now).then_some(flow)
    }
}

fn fingerprint(browser: &Secret) -> String {
    secret::encode(&browser.hash())
}

fn store_key(id: &str) -> String {
    format!("flow {id}")
}
