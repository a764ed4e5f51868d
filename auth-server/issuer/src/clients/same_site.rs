//! Whether two URLs are same-site, so that browsers send `SameSite` cookies between them.

use url::{Host, Url};

/// Returns whether two URLs are schemefully same-site (HTML standard, "sites"): their schemes are equal, and
/// so are their hosts or the registrable domains of their hosts. A URL that cannot be parsed or has no host
/// is same-site with none.
pub(super) fn is_same_site(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (Url::parse(one), Url::parse(other)) else {
        return false;
    };
    let hosts = one.host().zip(other.host());
    one.scheme() == other.scheme()
        && hosts.is_some_and(|(one, other)| one == other || have_same_registrable_domain(&one, &other))
}

/// Returns whether two hosts have the same public suffix and the same label before it. Addresses have
/// neither.
fn have_same_registrable_domain(one: &Host<&str>, other: &Host<&str>) -> bool {
    match (one, other) {
        (Host::Domain(one), Host::Domain(other)) => {
            let domain = psl::domain_str(one);
            domain.is_some() && domain == psl::domain_str(other)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_of_a_registrable_domain_are_same_site() {
        for (one, other) in [
            ("https://example.com/cb", "https://example.com"),
            ("https://app.example.com/cb", "https://auth.example.com"),
            ("https://app.example.co.uk:8443/cb", "https://example.co.uk"),
            ("http://localhost:3000/cb", "http://localhost:8080"),
            ("http://127.0.0.1:3000/cb", "http://127.0.0.1:8080"),
            ("https://app.internal.test/cb", "https://auth.internal.test"),
        ] {
            assert!(is_same_site(one, other), "{one} {other}");
        }
    }

    #[test]
    fn other_schemes_addresses_and_names_below_a_public_suffix_are_other_sites() {
        for (one, other) in [
            ("http://app.example.com/cb", "https://auth.example.com"),
            ("https://app.example.org/cb", "https://auth.example.com"),
            ("https://app.co.uk/cb", "https://auth.co.uk"),
            ("https://ann.github.io/cb", "https://bob.github.io"),
            ("https://notexample.com/cb", "https://example.com"),
            ("https://co.uk/cb", "https://auth.co.uk"),
            ("http://127.0.0.1:3000/cb", "http://localhost:8080"),
            ("http://10.0.0.1/cb", "http://11.0.0.1"),
            ("http://[::1]/cb", "http://127.0.0.1"),
            ("org.example.app:/cb", "https://app.example.org"),
        ] {
            assert!(!is_same_site(one, other), "{one} {other}");
        }
    }
}
