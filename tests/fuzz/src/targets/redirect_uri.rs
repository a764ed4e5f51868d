//! Redirect URIs: an accepted URI is in its normal form and leads to an `https` URL, to this machine or to a
//! native app.

use crate::harness::{is_accepted, registration, text};
use identity::clients::ClientType;
use url::Url;

pub(super) fn check(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let accepts = |kind| is_accepted(registration(kind, Some(text), None));
    let (spa, native) = (accepts(ClientType::Spa), accepts(ClientType::Native));
    assert!(native || !spa, "a native app may have what a single-page app may have");
    if !native {
        return;
    }
    let uri = Url::parse(text).expect("an accepted URI is a URL");
    assert!(uri.as_str() == text && !text.contains(['#', '*']) && !uri.authority().contains('@'));
    match uri.scheme() {
        "https" => assert!(uri.host().is_some()),
        "http" => assert!(http_client::is_loopback(&uri)),
        scheme => assert!(scheme.contains('.') && !spa),
    }
}
