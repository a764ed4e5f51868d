//! The rule for URLs that third parties choose, so that a server that requests them cannot be made to call
//! into the network of its operator (server-side request forgery).

use crate::addresses::is_public;
use crate::{is_confidential, is_loopback};
use std::net::{IpAddr, SocketAddr};
use url::{Host, Url};

/// The longest URL, in bytes.
const MAX_LENGTH: usize = 2_000;

/// Decides which URLs of third parties this server may request.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    allows_loopback: bool,
}

/// A URL that a third party chose and a [`Guard`] accepts.
#[derive(Clone, Debug)]
pub struct ForeignUrl(Url);

impl Guard {
    /// Returns the guard of a server with this public URL. Only a server whose own URL is plain http on
    /// loopback, for development, may request loopback addresses.
    pub fn of_server(url: &str) -> Self {
        let url = Url::parse(url);
        Self {
            allows_loopback: url.is_ok_and(|url| url.scheme() == "http" && is_loopback(&url)),
        }
    }

    /// Parses a URL of a third party. Fails with a message that says what to change, such as "it must begin
    /// with https://". The addresses of a host name are checked when it is resolved.
    pub fn parse(self, text: &str) -> Result<ForeignUrl, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("it is longer than {MAX_LENGTH} characters: shorten it"));
        }
        let url = Url::parse(text).map_err(|error| format!("{error}: write a complete https URL"))?;
        if url.scheme() != "https" && !(self.allows_loopback && is_confidential(&url)) {
            return Err("it must begin with https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user or a password: remove them".to_owned());
        }
        if url.fragment().is_some() {
            return Err("it has a fragment: remove the part from # on".to_owned());
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
            _ => None,
        };
        match address.filter(|address| !self.allows(*address)) {
            Some(address) => Err(format!(
                "{address} is not a public address: name a host on the internet"
            )),
            None => Ok(ForeignUrl(url)),
        }
    }

    /// Checks the addresses of a host. Fails with a message for the log if there is none, or if only one of
    /// them is not allowed.
    pub(crate) fn check(self, addresses: &[SocketAddr]) -> Result<(), String> {
        if addresses.is_empty() {
            return Err("the host has no address".to_owned());
        }
        let refused = addresses.iter().find(|address| !self.allows(address.ip()));
        refused.map_or(Ok(()), |address| {
            Err(format!("{} is not a public address", address.ip()))
        })
    }

    /// Returns whether the plain `http` URLs that [`parse`](Self::parse) accepts include any.
    pub(crate) const fn allows_plain_http(self) -> bool {
        self.allows_loopback
    }

    fn allows(self, address: IpAddr) -> bool {
        is_public(address) || self.allows_loopback && address.is_loopback()
    }
}

impl ForeignUrl {
    pub(crate) const fn url(&self) -> &Url {
        &self.0
    }
}

impl From<ForeignUrl> for String {
    fn from(url: ForeignUrl) -> Self {
        url.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PRODUCTION: Guard = Guard {
        allows_loopback: false,
    };
    const DEVELOPMENT: Guard = Guard {
        allows_loopback: true,
    };

    #[test]
    fn only_a_server_on_plain_http_and_loopback_may_call_loopback() {
        for (url, expected) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]", true),
            ("https://localhost", false),
            ("https://id.example.org", false),
            ("http://id.example.org", false),
            ("nonsense", false),
        ] {
            assert_eq!(Guard::of_server(url).allows_loopback, expected, "{url}");
        }
    }

    #[test]
    fn urls_are_https_without_user_and_fragment() {
        for good in [
            "https://app.example/jwks.json",
            "https://app.example:8443/keys?set=1",
            "https://8.8.8.8/jwks",
            "https://[2606:4700::1111]/jwks",
        ] {
            assert!(PRODUCTION.parse(good).is_ok(), "{good}");
        }
        let long = format!("https://app.example/{}", "a".repeat(2_000));
        for (bad, reason) in [
            ("http://app.example/jwks", "https://"),
            ("http://localhost/jwks", "https://"),
            ("ftp://app.example/jwks", "https://"),
            ("file:///etc/passwd", "https://"),
            ("data:application/json,{}", "https://"),
            ("/jwks.json", "complete https URL"),
            ("https://", "complete https URL"),
            ("https://app.example/jwks#keys", "fragment"),
            ("https://app.example/jwks#", "fragment"),
            ("https://user@app.example/jwks", "user"),
            ("https://:secret@app.example/jwks", "user"),
            (long.as_str(), "2000"),
        ] {
            let refused = PRODUCTION.parse(bad).unwrap_err();
            assert!(refused.contains(reason), "{bad}: {refused}");
        }
    }

    #[test]
    fn special_purpose_addresses_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "0",
            "169.254.169.254",
            "0xa9fea9fe",
            "10.0.0.1",
            "192.168.1",
            "100.64.0.1",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::7f00:1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
        ] {
            let refused = PRODUCTION.parse(&format!("https://{host}/jwks")).unwrap_err();
            assert!(refused.contains("not a public address"), "{host}: {refused}");
        }
    }

    #[test]
    fn in_development_loopback_is_allowed_and_no_other_special_address() {
        for good in [
            "http://localhost:9/jwks",
            "http://127.0.0.1:9/jwks",
            "http://[::1]:9/jwks",
            "https://127.0.0.1/jwks",
            "https://app.example/jwks",
        ] {
            assert!(DEVELOPMENT.parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://app.example/jwks",
            "http://10.0.0.1/jwks",
            "http://localhost.evil.example/jwks",
            "https://10.0.0.1/jwks",
            "https://[::ffff:127.0.0.1]/jwks",
            "https://0.0.0.0/jwks",
        ] {
            assert!(DEVELOPMENT.parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_refused_address_refuses_the_host() {
        let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
            let texts = texts.iter();
            texts
                .map(|text| SocketAddr::new(text.parse().unwrap(), 443))
                .collect()
        };
        let public = addresses(&["8.8.8.8", "2606:4700::1111"]);
        assert_eq!(PRODUCTION.check(&public), Ok(()));
        for mixed in [
            addresses(&["8.8.8.8", "10.0.0.1"]),
            addresses(&["::1", "8.8.8.8"]),
            addresses(&["2606:4700::1111", "::ffff:8.8.8.8"]),
            addresses(&[]),
        ] {
            assert!(PRODUCTION.check(&mixed).is_err(), "{mixed:?}");
        }
        let loopback = addresses(&["127.0.0.1", "::1"]);
        assert!(PRODUCTION.check(&loopback).is_err());
        assert_eq!(DEVELOPMENT.check(&loopback), Ok(()));
    }

    proptest! {
        #[test]
        fn an_accepted_url_is_https_and_names_no_special_address(text in r"(https?|ftp):/{0,3}[0-9a-fx.:@#\[\]%/]{0,24}") {
            if let Ok(url) = PRODUCTION.parse(&text) {
                let url = url.url();
                prop_assert_eq!(url.scheme(), "https");
                let literal = url.host_str().unwrap().trim_matches(['[', ']']).parse();
                prop_assert!(literal.map_or(true, is_public), "{}", url);
            }
        }
    }
}
