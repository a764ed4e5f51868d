//! Client identifier URLs (draft-ietf-oauth-client-id-metadata-document-02 §3).

use http_client::{ForeignUrl, Guard};
use url::Url;

/// A `client_id` that is the URL of the client's metadata document. Its text is the identity of the client.
#[derive(Clone, Debug)]
pub struct ClientIdUrl {
    text: String,
    host: String,
    url: ForeignUrl,
}

impl ClientIdUrl {
    /// Returns whether a `client_id` looks like a URL. No registered id does.
    pub fn is_url(client_id: &str) -> bool {
        client_id.starts_with("https://") || client_id.starts_with("http://")
    }

    /// Parses a URL that this guard accepts. It must be in its normal form, so that no client has two ids:
    /// with a path, and without dot segments, the default port and upper case in the host. Fails with a
    /// message that says what to change.
    pub fn parse(text: &str, guard: Guard) -> Result<Self, String> {
        let url = guard.parse(text)?;
        let normal = String::from(url.clone());
        if normal != text {
            return Err(format!("write it in its normal form, {normal}"));
        }
        let parsed = Url::parse(text).map_err(|error| error.to_string())?;
        let host = parsed.host_str().ok_or("it has no host")?;
        Ok(Self {
            text: normal,
            host: host.to_owned(),
            url,
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host, without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(super) const fn foreign_url(&self) -> &ForeignUrl {
        &self.url
    }
}

/// Returns the host and the port, if it has one, of the URL that identifies a client with a document.
pub fn authority_of(client_id: &str) -> String {
    let Ok(url) = Url::parse(client_id) else {
        return String::new();
    };
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn production() -> Guard {
        Guard::of_server("https://id.example.org")
    }

    #[test]
    fn https_urls_in_their_normal_form_are_ids() {
        for good in [
            "https://app.example/client.json",
            "https://app.example/",
            "https://app.example:8443/a/b?version=1",
            "https://xn--bcher-kva.example/%7Eme",
        ] {
            let url = ClientIdUrl::parse(good, production()).unwrap();
            assert_eq!(url.as_str(), good);
        }
        assert_eq!(authority_of("https://app.example:8443/a"), "app.example:8443");
        assert_eq!(authority_of("https://app.example/a"), "app.example");
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let long = format!("https://app.example/{}", "a".repeat(2_000));
        for (bad, reason) in [
            ("http://app.example/client.json", "https://"),
            ("http://localhost/client.json", "https://"),
            ("https://app.example", "normal form"),
            ("https://app.example:443/client.json", "normal form"),
            ("https://App.example/client.json", "normal form"),
            ("HTTPS://app.example/client.json", "normal form"),
            ("https://app.example/a/../client.json", "normal form"),
            ("https://app.example/./client.json", "normal form"),
            ("https://app.example/a/%2e%2E/client.json", "normal form"),
            ("https://app.example/%2e/client.json", "normal form"),
            ("https://app.example/client json", "normal form"),
            ("https://app.example\\client.json", "normal form"),
            ("https://@app.example/client.json", "normal form"),
            ("https:///app.example/client.json", "normal form"),
            ("https://app.example/client.json ", "normal form"),
            ("https://app.example/cl\tient.json", "normal form"),
            ("https://bücher.example/client.json", "normal form"),
            ("https://app.example/client.json#", "fragment"),
            ("https://app.example/client.json#me", "fragment"),
            ("https://user@app.example/client.json", "user"),
            ("https://user:word@app.example/client.json", "user"),
            ("https://127.0.0.1/client.json", "not a public address"),
            ("https://[::ffff:10.0.0.1]/client.json", "not a public address"),
            (long.as_str(), "2000"),
        ] {
            let refused = ClientIdUrl::parse(bad, production()).unwrap_err();
            assert!(refused.contains(reason), "{bad}: {refused}");
        }
    }

    #[test]
    fn in_development_loopback_documents_are_ids() {
        let development = Guard::of_server("http://localhost:8080");
        for good in [
            "http://localhost:9/c",
            "http://127.0.0.1:9/c",
            "https://app.example/c",
        ] {
            assert!(ClientIdUrl::parse(good, development).is_ok(), "{good}");
        }
        assert!(ClientIdUrl::parse("http://app.example/c", development).is_err());
    }

    proptest! {
        #[test]
        fn an_id_has_a_path_and_no_second_spelling(text in r"https?://[a-zA-Z0-9.@:\[\]]{1,12}(/|\\|%2[eEfF]|\.|[a-z?#~ ]){0,16}") {
            if let Ok(id) = ClientIdUrl::parse(&text, production()) {
                let url = Url::parse(&text).unwrap();
                prop_assert_eq!(url.as_str(), text.as_str());
                prop_assert_eq!(id.as_str(), text.as_str());
                prop_assert!(url.path().starts_with('/') && url.fragment().is_none() && url.username().is_empty());
                let lower = url.path().to_lowercase().replace("%2e", ".");
                prop_assert!(!lower.split('/').any(|segment| matches!(segment, "." | "..")), "{}", text);
            }
        }
    }
}
