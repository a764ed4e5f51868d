//! Parsers of setting values.

use foundation::urls::{origin_of, parse_origin};
use ipnet::IpNet;
use std::net::IpAddr;
use url::Url;

/// Parses the origin of pages as browsers name it in `Origin`: an http or https URL without path, or the
/// origin of a page that an app brings along, such as `capacitor://localhost` and `tauri://localhost`. Such
/// an origin is opaque to the URL standard, so it is compared as text.
pub(super) fn parse_page_origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if matches!(url.scheme(), "http" | "https") {
        return parse_origin(text).map(|url| origin_of(&url));
    }
    let origin = url.as_str().trim_end_matches('/');
    let host = url.host_str().filter(|host| !host.is_empty());
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    match host.map(|host| format!("{}://{host}{port}", url.scheme())) {
        Some(whole) if whole == origin => Ok(whole),
        _ => Err("it must be an origin without path or query, such as https://app.example.org or capacitor://localhost".to_owned()),
    }
}

/// Parses a network in CIDR notation, or a single address.
pub(super) fn parse_network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "not an address or a network such as 10.0.0.0/8 or fd00::/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_pages_may_have_other_schemes() {
        for (text, origin) in [
            ("https://app.example.org", "https://app.example.org"),
            ("http://localhost:4000/", "http://localhost:4000"),
            ("capacitor://localhost", "capacitor://localhost"),
            ("tauri://localhost/", "tauri://localhost"),
            ("ionic://localhost:8080", "ionic://localhost:8080"),
        ] {
            assert_eq!(parse_page_origin(text).as_deref(), Ok(origin));
        }
        for text in [
            "null",
            "*",
            "",
            "capacitor:",
            "capacitor://",
            "file:///",
            "data:text/html,x",
            "capacitor:localhost",
            "capacitor://localhost/app",
            "capacitor://localhost?x",
            "capacitor://localhost#x",
            "capacitor://u@localhost",
            "https://a.b/c",
        ] {
            assert!(parse_page_origin(text).is_err(), "{text}");
        }
    }
}
