//! The rules of redirect URIs.

use identity::clients::ClientType;
use url::{Host, Url};

/// Returns whether a redirect URI equals a registered one, apart from the port of `localhost` or of a
/// loopback address (RFC 9700 §4.1.3, RFC 8252 §7.3, §8.3).
pub fn matches(registered: &str, redirect_uri: &str) -> bool {
    let without_port = without_loopback_port(registered);
    registered == redirect_uri
        || without_port.is_some() && without_port == without_loopback_port(redirect_uri)
}

/// Fails if a redirect URI could deliver a code to someone else (RFC 9700 §2.1, RFC 8252 §7). The error
/// completes a message that begins with the URI, such as "it may have no fragment and no wildcard".
pub(crate) fn check(text: &str, kind: ClientType) -> Result<(), String> {
    let uri = Url::parse(text).map_err(|error| error.to_string())?;
    if uri.as_str() != text {
        return Err(format!("write it in its normal form, {uri}"));
    }
    if text.len() > 2_000 {
        return Err("it is longer than 2000 characters".to_owned());
    }
    if uri.fragment().is_some() || text.contains('*') {
        return Err("it may have no fragment and no wildcard".to_owned());
    }
    if !uri.username().is_empty() || uri.password().is_some() {
        return Err("it may have no user or password".to_owned());
    }
    match uri.scheme() {
        "https" => Ok(()),
        "http" if is_this_host(&uri) => Ok(()),
        "http" => Err("plain http is allowed for 127.0.0.1, [::1] and localhost only".to_owned()),
        // Private-use schemes are reversed domain names (RFC 8252 §7.1); javascript: and data: have no dot.
        scheme if kind == ClientType::Native && scheme.contains('.') => Ok(()),
        scheme => Err(format!(
            "the scheme {scheme} is not allowed: use https, or for a native app a loopback address or a scheme \
             such as org.example.app"
        )),
    }
}

/// Returns whether a redirect URI leads to the origin of the issuer.
pub(crate) fn is_of_issuer(uri: &str, issuer: &str) -> bool {
    let urls = Url::parse(uri).ok().zip(Url::parse(issuer).ok());
    urls.is_some_and(|(uri, issuer)| uri.origin() == issuer.origin())
}

fn is_this_host(uri: &Url) -> bool {
    match uri.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Returns the parts before and after the port of `http://localhost…`, `http://127.0.0.1…` or
/// `http://[::1]…`, else `None`.
fn without_loopback_port(uri: &str) -> Option<(&'static str, &str)> {
    ["http://localhost", "http://127.0.0.1", "http://[::1]"]
        .into_iter()
        .find_map(|origin| {
            let rest = uri.strip_prefix(origin)?;
            let path = match rest.strip_prefix(':') {
                None => rest,
                Some(rest) => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    let (port, path) = rest.split_at(digits);
                    port.parse::<u16>().ok()?;
                    path
                }
            };
            Some((origin, path))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_redirect_uri_matches_exactly() {
        let registered = "https://app.test/cb";
        assert!(matches(registered, "https://app.test/cb"));
        for other in [
            "https://app.test/cb/",
            "https://app.test/CB",
            "https://app.test:443/cb",
            "http://app.test/cb",
        ] {
            assert!(!matches(registered, other), "{other}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_host_may_vary() {
        let registered = "http://127.0.0.1/cb";
        for good in [
            "http://127.0.0.1/cb",
            "http://127.0.0.1:1024/cb",
            "http://127.0.0.1:65535/cb",
        ] {
            assert!(matches(registered, good), "{good}");
        }
        for bad in [
            "http://127.0.0.1:1024/other",
            "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:1@evil.test/cb",
            "http://127.0.0.1.evil.test/cb",
            "http://localhost:1024/cb",
            "http://[::1]:1024/cb",
            "https://127.0.0.1:1024/cb",
            "http://127.1:1024/cb",
        ] {
            assert!(!matches(registered, bad), "{bad}");
        }
        let registered = "http://localhost:8080/cb?x=1";
        for good in [
            registered,
            "http://localhost/cb?x=1",
            "http://localhost:8081/cb?x=1",
        ] {
            assert!(matches(registered, good), "{good}");
        }
        for bad in [
            "http://localhost:8080/cb",
            "http://localhost:8081/cb?x=2",
            "http://localhost:8081@evil.test/cb?x=1",
            "http://localhost.evil.test/cb?x=1",
            "http://localhost:/cb?x=1",
            "http://127.0.0.1:8080/cb?x=1",
            "https://localhost:8080/cb?x=1",
        ] {
            assert!(!matches(registered, bad), "{bad}");
        }
    }

    #[test]
    fn unsafe_redirect_uris_are_rejected() {
        for bad in [
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://app.test/cb",
            "https://*.app.test/cb",
            "https://app.test/cb#x",
            "https://u:p@app.test/cb",
            "https://app.test",
            "https://APP.test/cb",
            "app:/cb",
            "/cb",
        ] {
            assert!(check(bad, ClientType::Native).is_err(), "{bad}");
        }
        assert!(check("org.example.app:/cb", ClientType::Native).is_ok());
        assert!(check("org.example.app:/cb", ClientType::Spa).is_err());
    }

    proptest! {
        #[test]
        fn only_the_port_varies(
            host in prop::sample::select(vec!["127.0.0.1", "localhost"]),
            rest in "[:/0-9a-z@.?#]{0,12}",
        ) {
            let registered = format!("http://{host}:9/cb");
            let uri = format!("http://{host}{rest}");
            if matches(&registered, &uri) {
                let parsed = Url::parse(&uri).unwrap();
                prop_assert_eq!((parsed.host_str(), parsed.path(), parsed.query()), (Some(host), "/cb", None));
            }
        }
    }
}
