//! Authorization requests between `/authorize` and the code: kept here, not in URLs, and bound to the
//! browser that began them.

use crate::params::Params;
use serde::{Deserialize, Serialize};
use shared::clock::Timestamp;
use shared::ephemeral::Ephemeral;
use shared::random;
use shared::secret::{self, Secret};
use std::time::Duration;

/// How long a person may take to sign in and consent.
pub(crate) const LIFETIME: Duration = Duration::from_secs(30 * 60);

#[derive(Serialize, Deserialize)]
struct Flow {
    params: Params,
    browser: String,
}

/// Keeps a request; gives the flow's id.
pub(crate) async fn begin(store: &Ephemeral, params: Params, browser: &Secret, now: Timestamp) -> String {
    let id = random::id();
    let flow = Flow {
        params,
        browser: fingerprint(browser),
    };
    let text = serde_json::to_string(&flow).unwrap_or_default();
    store.put(&key(&id), text, now.after(LIFETIME), now).await;
    id
}

/// The request of a flow that this browser began and did not finish.
pub(crate) async fn find(store: &Ephemeral, id: &str, browser: &Secret, now: Timestamp) -> Option<Params> {
    read(&store.get(&key(id), now).await?, browser)
}

/// Finishes a flow: of several callers at once, one gets the request.
pub(crate) async fn finish(store: &Ephemeral, id: &str, browser: &Secret, now: Timestamp) -> Option<Params> {
    find(store, id, browser, now).await?;
    read(&store.take(&key(id), now).await?, browser)
}

fn read(text: &str, browser: &Secret) -> Option<Params> {
    let flow: Flow = serde_json::from_str(text).ok()?;
    secret::equal(flow.browser.as_bytes(), fingerprint(browser).as_bytes()).then_some(flow.params)
}

fn fingerprint(browser: &Secret) -> String {
    secret::encode(&browser.hash())
}

fn key(id: &str) -> String {
    format!("flow {id}")
}
