//! Client identifier URLs: an accepted URL is its own normal form, `https`, with a path and without user,
//! fragment and dot segments.

use crate::harness::{ISSUER, text};
use http_client::Guard;
use issuer::clients::documents::{ClientIdUrl, authority_of};
use url::Url;

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let Ok(id) = ClientIdUrl::parse(text, Guard::of_server(ISSUER)) else {
        return;
    };
    assert!(id.as_str() == text && ClientIdUrl::is_url(text) && text.len() <= 2_000);
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
    let url = Url::parse(text).expect("an id is a URL");
    assert!(url.as_str() == text && url.scheme() == "https" && url.path().starts_with('/'));
    assert!(url.username().is_empty() && url.password().is_none() && !text.contains('#'));
    let path = url.path().to_ascii_lowercase().replace("%2e", ".");
    assert!(!path.split('/').any(|segment| matches!(segment, "." | "..")));
    assert!(url.host_str() == Some(id.host()) && authority_of(text).starts_with(id.host()));
}
