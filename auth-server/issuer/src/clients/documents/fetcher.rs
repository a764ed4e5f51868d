//! A fetch of one document, with its logo.

use super::snapshots::Description;
use super::{ClientIdUrl, DocumentServices, logo, metadata};
use foundation::context::RequestContext;
use http_client::Document;
use std::time::Duration;

/// The longest document, in bytes (draft §8.7).
const MAX_BYTES: usize = 5 * 1024;
/// The time for which a document is fresh whose response has no `max-age`.
const DEFAULT_FRESHNESS: Duration = Duration::from_secs(3600);
/// The shortest time for which a document is fresh.
const MIN_FRESHNESS: Duration = Duration::from_secs(300);
/// The longest time for which a document is fresh.
const MAX_FRESHNESS: Duration = Duration::from_secs(24 * 3600);

impl DocumentServices {
    /// Fetches and stores a document. Fails with the reason.
    pub(super) async fn fetch(&self, url: &ClientIdUrl, context: &RequestContext) -> Result<(), String> {
        // The request may have waited for another fetch.
        let context = &context.at_present();
        let client_id = url.as_str();
        let fetched = self.http.get_json(url.foreign_url(), MAX_BYTES).await;
        let Document { body, max_age } = fetched.map_err(|failure| {
            let error = failure.detail;
            tracing::warn!(client_id, error, "cannot fetch a client ID metadata document");
            failure.reason
        })?;
        let client = metadata::parse(&body, url, &self.issuer, context.now)?;
        let logo = logo::fetch(&body, &self.http).await;
        let freshness = max_age.unwrap_or(DEFAULT_FRESHNESS);
        let fresh_until = context.now.after(freshness.clamp(MIN_FRESHNESS, MAX_FRESHNESS));
        let described = Description {
            client,
            logo,
            fresh_until,
        };
        let stored = self.keep(&described, context).await;
        stored.map_err(|error| {
            tracing::error!(client_id, %error, "cannot store the description of a client");
            "a part of this service does not answer; try again in a moment".to_owned()
        })
    }
}
