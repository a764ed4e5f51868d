//! Parsers of settings.

use ipnet::IpNet;
use std::net::IpAddr;
use url::Url;

/// Parses an http or https URL that is an origin: without path, query, fragment or user.
pub(super) fn parse_origin(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let no_user = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !is_bare || !no_user {
        return Err("it must be an origin, such as https://id.example.org, without path or query".to_owned());
    }
    Ok(url)
}

pub(super) fn parse_network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "a network is written 10.0.0.0/8 or fd00::/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_an_origin_and_nothing_more() {
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
