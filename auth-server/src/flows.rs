//! Authorization requests between `/authorize` and the code. They travel with the browser, sealed, and not
//! in our memory, so that no flood of requests can push out somebody's sign-in; and they are bound to the
//! browser that began them.

use crate::params::Params;
use serde::{Deserialize, Serialize};
use shared::clock::Timestamp;
use shared::ephemeral::Ephemeral;
use shared::random;
use shared::redis::Unavailable;
use shared::seal::SealingKey;
use shared::secret::{self, Secret};
use std::time::Duration;

/// How long a person may take to sign in and consent.
pub(crate) const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// What a flow is sealed as.
const NAME: &str = "authorization flow";

/// Seals and opens flows. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Flows {
    pub(crate) key: SealingKey,
    /// Remembers which flows are finished.
    pub(crate) store: Ephemeral,
}

#[derive(Serialize, Deserialize)]
struct Flow {
    id: String,
    params: Params,
    browser: String,
    expires_at: i64,
}

impl Flows {
    /// Seals a request for this browser.
    pub(crate) fn begin(&self, params: Params, browser: &Secret, now: Timestamp) -> String {
        let flow = Flow {
            id: random::id(),
            params,
            browser: fingerprint(browser),
            expires_at: now.after(LIFETIME).micros(),
        };
        let text = serde_json::to_vec(&flow).unwrap_or_default();
        secret::encode(&self.key.seal(NAME, &text))
    }

    /// The request of a flow that this browser began and did not finish.
    pub(crate) async fn find(
        &self,
        sealed: &str,
        browser: &Secret,
        now: Timestamp,
    ) -> Result<Option<Params>, Unavailable> {
        let Some(flow) = self.open(sealed, browser, now) else {
            return Ok(None);
        };
        let is_finished = self.store.is_claimed(&key(&flow.id), now).await?;
        Ok((!is_finished).then_some(flow.params))
    }

    /// Finishes a flow: of several callers at once, one gets the request.
    pub(crate) async fn finish(
        &self,
        sealed: &str,
        browser: &Secret,
        now: Timestamp,
    ) -> Result<Option<Params>, Unavailable> {
        let Some(flow) = self.open(sealed, browser, now) else {
            return Ok(None);
        };
        let expires_at = Timestamp::from_micros(flow.expires_at);
        let is_first = self.store.claim(&key(&flow.id), expires_at, now).await?;
        Ok(is_first.then_some(flow.params))
    }

    fn open(&self, sealed: &str, browser: &Secret, now: Timestamp) -> Option<Flow> {
        let text = self.key.open(NAME, &secret::decode(sealed)?).ok()?;
        let flow: Flow = serde_json::from_slice(&text).ok()?;
        let is_its = secret::equal(flow.browser.as_bytes(), fingerprint(browser).as_bytes());
        (is_its && flow.expires_at > now.micros()).then_some(flow)
    }
}

fn fingerprint(browser: &Secret) -> String {
    secret::encode(&browser.hash())
}

fn key(id: &str) -> String {
    format!("flow {id}")
}
