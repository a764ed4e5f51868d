//! The redirect URI of a request: it matches a registered one, which is on the first line of the input, if
//! both are equal apart from the port of `localhost`, `127.0.0.1` or `[::1]`.

use crate::harness::{is_accepted, registration, text};
use identity::clients::ClientType;
use issuer::clients::redirect_uris::matches;
use url::Url;

pub(super) fn check(input: &[u8]) {
    let Some((registered, presented)) = text(input).and_then(|text| text.split_once('\n')) else {
        return;
    };
    assert!(matches(registered, registered));
    let is_match = matches(registered, presented);
    assert_eq!(is_match, matches(presented, registered));
    if !is_accepted(registration(ClientType::Native, Some(registered), None)) {
        return;
    }
    let uri = Url::parse(registered).expect("a registered URI is a URL");
    let is_loopback =
        uri.scheme() == "http" && matches!(uri.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if is_loopback {
        assert!(matches(registered, with_port(&uri, 49_152).as_str()));
    }
    if is_match && registered != presented {
        let presented = Url::parse(presented).expect("a matching URI is a URL");
        assert!(is_loopback);
        assert_eq!(with_port(&presented, 49_152), with_port(&uri, 49_152));
    }
}

fn with_port(uri: &Url, port: u16) -> Url {
    let mut uri = uri.clone();
    uri.set_port(Some(port)).expect("an http URL may have a port");
    uri
}
