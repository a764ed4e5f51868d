//! Requests that a form of another site posts to a page. Browsers send no session cookie with such a form, so
//! the response redirects to the same page by GET. The request travels sealed, because URLs stay in histories
//! and logs.

use crate::flows::Flows;
use crate::long_requests;
use crate::params::Params;
use foundation::clock::Timestamp;
use foundation::context::RequestContext;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use storage::db::Error;

/// The parameter with the sealed request.
pub const PARAMETER: &str = "posted";
/// The time within which the browser must follow the redirect, and may reload the page.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

#[derive(Serialize, Deserialize)]
struct Posted {
    params: Params,
    expires_at: Timestamp,
}

/// Returns the value of [`PARAMETER`] for a request that was posted to this path. Fails if the request is
/// long and cannot be stored.
pub async fn seal(
    flows: &Flows,
    path: &str,
    params: Params,
    context: &RequestContext,
) -> Result<String, long_requests::Error> {
    let posted = Posted {
        params,
        expires_at: context.now.after(LIFETIME),
    };
    let text = serde_json::to_vec(&posted).unwrap_or_default();
    let sealed = flows.key.seal(&seal_name(path), &text);
    let long_requests = &flows.long_requests;
    long_requests.shorten(sealed, posted.expires_at, context).await
}

/// Returns the request that was posted to this path, if the parameters carry one, and otherwise the
/// parameters themselves. Returns `None` if they carry one that has expired, was posted to another path, or
/// does not come from [`seal`]. Fails if the database does.
pub async fn open(
    flows: &Flows,
    path: &str,
    params: Params,
    now: Timestamp,
) -> Result<Option<Params>, Error> {
    let Some(text) = params.get(PARAMETER) else {
        return Ok(Some(params));
    };
    let sealed = long_requests::restore(&flows.db, text, now).await?;
    let open = |sealed: Vec<u8>| {
        let text = flows.key.open(&seal_name(path), &sealed).ok()?;
        let posted: Posted = serde_json::from_slice(&text).ok()?;
        (posted.expires_at > now).then_some(posted.params)
    };
    Ok(sealed.and_then(open))
}

fn seal_name(path: &str) -> String {
    format!("request that was posted to {path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long_requests::LongRequests;
    use foundation::sealing::SealingKey;
    use storage::db::Db;
    use storage::expiring::ExpiringStore;

    #[tokio::test]
    async fn a_request_opens_on_its_page_until_it_expires() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("test.db").display());
        let db = Db::open(&url.parse().unwrap(), 1, 1).await.unwrap();
        db.migrate().await.unwrap();
        let flows = |key| Flows {
            key,
            db: db.clone(),
            long_requests: LongRequests {
                db: db.clone(),
                expiring: ExpiringStore::new(None),
            },
        };
        let (own, other) = (flows(SealingKey::generate()), flows(SealingKey::generate()));
        let now = Timestamp::from_micros(1_000_000);
        let context = RequestContext {
            now,
            ..RequestContext::without_request()
        };
        let long = "x".repeat(8_000);
        for hint in ["x", &*long] {
            let params = Params::from_form(format!("state=some+state&id_token_hint={hint}").as_bytes());
            let carried = |text: &str| Params::from_form(format!("{PARAMETER}={text}").as_bytes());
            let text = seal(&own, "/signout", params.clone(), &context).await.unwrap();
            assert!(text.len() <= long_requests::MAX_TEXT_LENGTH);
            let opened =
                async |flows: &Flows, path: &str, at| open(flows, path, carried(&text), at).await.unwrap();
            assert_eq!(opened(&own, "/signout", now).await, Some(params.clone()));
            assert_eq!(opened(&own, "/authorize", now).await, None);
            assert_eq!(opened(&other, "/signout", now).await, None);
            assert_eq!(opened(&own, "/signout", now.after(LIFETIME)).await, None);
            let nonsense = open(&own, "/signout", carried("nonsense"), now).await;
            assert_eq!(nonsense.unwrap(), None);
            let plain = open(&own, "/signout", params.clone(), now).await.unwrap();
            assert_eq!(plain, Some(params));
        }
    }
}
