//! Parsers of setting values.

use ipnet::IpNet;
use std::net::IpAddr;
use url::Url;

/// Parses an http or https URL without path, query, fragment, user name and password.
pub fn parse_origin(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let has_no_user = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !is_bare || !has_no_user {
        return Err(
            "the URL must be an origin without path or query, such as https://id.example.org".to_owned(),
        );
    }
    Ok(url)
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
    fn origins_have_no_path_query_or_user() {
        assert!(parse_origin("https://id.example.org").is_ok());
        for text in [
            "id.example.org",
            "ftp://a.b",
            "https://a.b/c",
            "https://a.b?c",
            "https://u@a.b",
        ] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }
}
