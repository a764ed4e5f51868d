//! The policies that a page and an https response send to browsers in their headers.

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
pub(super) fn remembers_https(header: &str) -> bool {
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
    fn browsers_remember_https_for_a_while_only() {
        for remembered in ["max-age=31536000", "includeSubDomains; Max-Age=\"1\"; preload"] {
            assert!(remembers_https(remembered), "{remembered}");
        }
        for forgotten in ["", "max-age=0", "max-age=\"0\"", "includeSubDomains", "max-age=x"] {
            assert!(!remembers_https(forgotten), "{forgotten}");
        }
    }
}
