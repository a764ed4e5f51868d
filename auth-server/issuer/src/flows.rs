//! Authorization flows. Each carries an authorization request from `/authorize` to the issue of the code. It
//! travels sealed in the URLs and forms of the pages, and is bound to the browser that began it. The server
//! stores only [long requests](crate::long_requests), so a flood of requests cannot displace anyone's
//! sign-in. The end of a flow is a row, written in the transaction of the code or of the refusal.

use crate::long_requests::{self, LongRequests};
use crate::params::Params;
use crate::pushed_requests::RequestUri;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use foundation::random;
use foundation::sealing::SealingKey;
use foundation::secret::{self, Secret};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use storage::db::{Db, Error, Tx};
use storage::{delete_expired, execute, fetch_optional, sql};

sql! {
    FINISH = "INSERT INTO finished_flows (id, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    FIND_FINISHED = "SELECT expires_at FROM finished_flows WHERE id = $1";
    PRUNE = delete_expired!("finished_flows");
}

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
    pub db: Db,
    /// Stores the flows whose requests are too long for a URL.
    pub long_requests: LongRequests,
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
    /// The name that the client had then, if an administrator created it. A name that a client chose itself
    /// appears on the consent page only, which says so.
    pub client_name: Option<String>,
}

/// A flow that a browser has begun.
#[derive(Debug, Serialize, Deserialize)]
pub struct Flow {
    id: String,
    /// Its authorization request.
    pub request: FlowRequest,
    /// The hash of the browser's secret, in base64url.
    browser: String,
}

impl Flow {
    fn expires_at(&self) -> Timestamp {
        self.request.received_at.after(LIFETIME)
    }

    /// Finishes the flow, if the transaction commits. Returns false if it was finished before: of several
    /// concurrent transactions, one gets true.
    pub(crate) async fn finish(&self, tx: &mut Tx) -> Result<bool, Error> {
        let inserted = execute!(tx.on(), FINISH, self.id.as_str(), self.expires_at())?;
        Ok(inserted == 1)
    }
}

/// Deletes the records of flows that have expired. Returns their number.
pub async fn prune(db: &Db, now: Timestamp) -> Result<u64, Error> {
    db.prune(PRUNE, now).await
}

impl Flows {
    /// Begins a flow, bound to the browser that has the secret `browser`. Returns the text that travels for
    /// it: the sealed request in base64url, or a reference to it. Fails if the request is long and cannot be
    /// stored.
    pub async fn begin(
        &self,
        request: FlowRequest,
        browser: &Secret,
        context: &RequestContext,
    ) -> Result<String, long_requests::Error> {
        let flow = Flow {
            id: random::id(),
            request,
            browser: fingerprint(browser),
        };
        let text = serde_json::to_vec(&flow).unwrap_or_default();
        let sealed = self.key.seal(SEAL_NAME, &text);
        self.long_requests
            .shorten(sealed, flow.expires_at(), context)
            .await
    }

    /// Returns a flow, or `None` if it is malformed, expired, finished or bound to another browser.
    pub async fn find(&self, text: &str, browser: &Secret, now: Timestamp) -> Result<Option<Flow>, Error> {
        let sealed = long_requests::restore(&self.db, text, now).await?;
        let Some(flow) = sealed.and_then(|sealed| self.open(&sealed, browser, now)) else {
            return Ok(None);
        };
        let finished = fetch_optional!(self.db.reader(), (Timestamp,), FIND_FINISHED, flow.id.as_str())?;
        Ok(finished.is_none().then_some(flow))
    }

    fn open(&self, sealed: &[u8], browser: &Secret, now: Timestamp) -> Option<Flow> {
        let text = self.key.open(SEAL_NAME, sealed).ok()?;
        let flow: Flow = serde_json::from_slice(&text).ok()?;
        let is_same_browser = secret::equal(flow.browser.as_bytes(), fingerprint(browser).as_bytes());
        (is_same_browser && flow.expires_at() > now).then_some(flow)
    }
}

fn fingerprint(browser: &Secret) -> String {
    secret::encode(&browser.hash())
}
