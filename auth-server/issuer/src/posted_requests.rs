//! Requests that a form of another site posts to a page. Browsers send no session cookie with such a form, so the answer redirects
//! to the same page by GET. The request travels sealed, because URLs stay in histories and logs.

use crate::params::Params;
use foundation::clock::Timestamp;
use foundation::sealing::SealingKey;
use foundation::secret;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The parameter with the sealed request.
pub const PARAMETER: &str = "posted";
/// The time within which the browser must follow the redirect, and may reload the page.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

#[derive(Serialize, Deserialize)]
struct Posted {
    params: Params,
    expires_at: Timestamp,
}

/// Returns the value of [`PARAMETER`] for a request that was posted to this path.
pub fn seal(key: &SealingKey, path: &str, params: Params, now: Timestamp) -> String {
    let posted = Posted {
        params,
        expires_at: now.after(LIFETIME),
    };
    let text = serde_json::to_vec(&posted).unwrap_or_default();
    secret::encode(&key.seal(&seal_name(path), &text))
}

/// Returns the request that was posted to this path, if the parameters carry one, and otherwise the parameters themselves. Returns
/// `None` if they carry one that has expired, was posted to another path, or does not come from [`seal`].
pub fn open(key: &SealingKey, path: &str, params: Params, now: Timestamp) -> Option<Params> {
    let Some(sealed) = params.get(PARAMETER) else {
        return Some(params);
    };
    let text = key.open(&seal_name(path), &secret::decode(sealed)?).ok()?;
    let posted: Posted = serde_json::from_slice(&text).ok()?;
    (posted.expires_at > now).then_some(posted.params)
}

fn seal_name(path: &str) -> String {
    format!("request that was posted to {path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_opens_on_its_page_until_it_expires() {
        let (key, now) = (SealingKey::generate(), Timestamp::from_micros(1_000_000));
        let params = Params::from_form(b"state=some+state&id_token_hint=x");
        let carried = |sealed: &str| Params::from_form(format!("{PARAMETER}={sealed}").as_bytes());
        let sealed = seal(&key, "/signout", params.clone(), now);
        let opened = |key: &SealingKey, path: &str, at| open(key, path, carried(&sealed), at);
        assert_eq!(opened(&key, "/signout", now), Some(params.clone()));
        assert_eq!(opened(&key, "/authorize", now), None);
        assert_eq!(opened(&SealingKey::generate(), "/signout", now), None);
        assert_eq!(opened(&key, "/signout", now.after(LIFETIME)), None);
        assert_eq!(open(&key, "/signout", carried("nonsense"), now), None);
        assert_eq!(open(&key, "/signout", params.clone(), now), Some(params));
    }
}
