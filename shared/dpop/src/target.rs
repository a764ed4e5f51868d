//! The comparison of `htu` with the URL of the request (RFC 9449 §4.3, step 9).

use url::Url;

/// Returns whether `htu` names the URL `expected`. Their queries and fragments do not count. Both are
/// normalized by their syntax and by their scheme (RFC 3986 §6.2.2, §6.2.3).
pub(crate) fn is_same_target(htu: &str, expected: &str) -> bool {
    match (normalized(htu), normalized(expected)) {
        (Some(htu), Some(expected)) => htu == expected,
        _ => false,
    }
}

fn normalized(url: &str) -> Option<Url> {
    // The parser lowers the case of scheme and host, and removes dot segments and the default port.
    let mut url = Url::parse(url).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = with_normal_escapes(url.path());
    url.set_path(&path);
    Some(url)
}

/// Decodes the escapes of unreserved characters, and writes all others in upper case (RFC 3986 §6.2.2.1,
/// §6.2.2.2).
fn with_normal_escapes(path: &str) -> String {
    let mut normal = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        normal.push_str(before);
        rest = after;
        let byte = after.get(..2);
        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.map(char::from) {
            Some(c) if c.is_ascii_alphanumeric() || "-._~".contains(c) => normal.push(c),
            Some(_) => normal.push_str(&format!("%{}", after[..2].to_ascii_uppercase())),
            None => {
                normal.push('%');
                continue;
            }
        }
        rest = &after[2..];
    }
    normal + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: &str = "https://api.example/v1/posts/5";

    #[test]
    fn equivalent_urls_are_the_same_target() {
        for htu in [
            EXPECTED,
            "https://api.example/v1/posts/5?limit=5",
            "https://api.example/v1/posts/5#top",
            "HTTPS://API.example:443/v1/posts/5",
            "https://api.example/v1/./x/../posts/5",
            "https://api.example/v1/%70osts/%35",
        ] {
            assert!(is_same_target(htu, EXPECTED), "{htu}");
        }
        assert!(is_same_target(
            "https://a.example/%c3%a9%2f",
            "https://a.example/%C3%A9%2F"
        ));
        assert!(is_same_target(
            "http://localhost:8080/token",
            "http://localhost:8080/token?x"
        ));
        assert!(is_same_target("https://a.example", "https://a.example/"));
        assert!(is_same_target("https://a.example/100%", "https://a.example/100%"));
    }

    #[test]
    fn other_urls_are_other_targets() {
        for htu in [
            "http://api.example/v1/posts/5",
            "https://api.example:8443/v1/posts/5",
            "https://api.example./v1/posts/5",
            "https://user@api.example/v1/posts/5",
            "https://other.example/v1/posts/5",
            "https://api.example/v1/posts/5/",
            "https://api.example/v1/posts",
            "https://api.example/v1/posts%2F5",
            "https://api.example/V1/posts/5",
            "/v1/posts/5",
            "urn:v1:posts:5",
            "",
        ] {
            assert!(!is_same_target(htu, EXPECTED), "{htu}");
        }
    }
}
