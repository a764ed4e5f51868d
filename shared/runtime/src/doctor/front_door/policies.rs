//! The policies that a page and an https response send to browsers in their headers.

use crate::doctor::Report;
use reqwest::header::{HeaderMap, STRICT_TRANSPORT_SECURITY};
use url::Url;

/// Adds the finding about TLS, by the URL and the headers of a response.
pub(super) fn examine_https(report: &mut Report, url: &Url, headers: &HeaderMap) {
    let policy = headers.get(STRICT_TRANSPORT_SECURITY);
    let has_hsts = policy.is_some_and(|policy| policy.to_str().is_ok_and(remembers_https));
    match url.scheme() {
        "https" if has_hsts => report.ok("https", "with Strict-Transport-Security"),
        "https" => report.warn(
            "https",
            "the response has no Strict-Transport-Security with a max-age",
            "let the proxy add `Strict-Transport-Security: max-age=31536000`",
        ),
        _ if http_client::is_loopback(url) => {
            report.skip(
                "https",
                "plain http, at an address that only this machine reaches",
            );
        }
        _ => report.fail(
            "https",
            "passwords and tokens travel unencrypted",
            "put a TLS proxy in front, and set BASE_URL to its https URL",
        ),
    }
}

/// Returns whether a `Content-Security-Policy` still forbids what no page of the programs needs: frames of
/// other sites, and inline scripts and styles (CSP Level 3 §6).
pub(super) fn is_strict(policy: &str) -> bool {
    let policy = policy.to_ascii_lowercase();
    // A browser ignores all but the first directive of a name.
    let first = |name: &str| {
        let mut values = policy.split(';').map(str::trim);
        values.find_map(|directive| directive.strip_prefix(name))
    };
    let is_none = |name| first(name).is_some_and(|value| value.trim() == "'none'");
    is_none("default-src ") && is_none("frame-ancestors ") && !policy.contains("'unsafe-")
}

/// Returns whether a `Strict-Transport-Security` lets browsers remember the host: with the age 0 they forget
/// it (RFC 6797 §6.1.1).
fn remembers_https(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    let mut directives = header.split(';').map(str::trim);
    let age = directives.find_map(|directive| directive.strip_prefix("max-age="));
    let age = age.and_then(|age| age.trim_matches('"').parse::<u64>().ok());
    age.is_some_and(|age| age > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weakened_policy_is_not_strict() {
        let own = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; script-src 'self'";
        assert!(is_strict(own));
        assert!(is_strict(&own.replace("; ", " ;  ")));
        for weakened in [
            String::new(),
            "frame-ancestors 'none'".to_owned(),
            own.replace("frame-ancestors 'none'; ", ""),
            own.replace("frame-ancestors 'none'", "frame-ancestors 'none' https://a.test"),
            own.replace("default-src 'none'", "default-src *"),
            format!("frame-ancestors *; {own}"),
            format!("{own} 'Unsafe-Inline'"),
        ] {
            assert!(!is_strict(&weakened), "{weakened}");
        }
    }

    #[test]
    fn plain_http_and_a_forgotten_host_are_reported() {
        let mut headers = HeaderMap::new();
        let state = |url: &str, headers: &HeaderMap| {
            let mut report = Report::default();
            examine_https(&mut report, &Url::parse(url).unwrap(), headers);
            let report = format!("{report:?}");
            let states = ["Ok", "Skipped", "Warning", "Error"];
            let is_state = |state: &&str| report.contains(&format!("state: {state},"));
            states.into_iter().find(is_state)
        };
        assert_eq!(state("http://id.example.test", &headers), Some("Error"));
        assert_eq!(state("http://localhost:8080", &headers), Some("Skipped"));
        assert_eq!(state("https://id.example.test", &headers), Some("Warning"));
        headers.insert(STRICT_TRANSPORT_SECURITY, "max-age=31536000".parse().unwrap());
        assert_eq!(state("https://id.example.test", &headers), Some("Ok"));
    }

    #[test]
    fn browsers_remember_https_for_a_while_only() {
        for remembered in ["max-age=31536000", "includeSubDomains; Max-Age=\"1\"; preload"] {
            assert!(remembers_https(remembered), "{remembered}");
        }
        for forgotten in ["", "max-age=0", "max-age=\"0\"", "includeSubDomains", "max-age=x"] {
            assert!(!remembers_https(forgotten), "{forgotten}");
        }
    }
}
