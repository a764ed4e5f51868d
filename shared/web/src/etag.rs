//! Entity tags and preconditions (RFC 9110 §8.8.3, §13.1).

use axum::http::{HeaderMap, header};
use foundation::schema;

/// The suffix, within the quotes, of the entity tag of a compressed response.
const GZIP_SUFFIX: &str = "--gzip";

/// The pattern of a list of entity tags, or `*`.
const LIST_PATTERN: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

schema! {
    IfMatch = schema::text(1, 8_192, LIST_PATTERN, "Entity tags, separated by commas, or `*`.");
}

/// An `If-Match` header, compared with the entity tag of the current version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Absent or empty.
    Missing,
    /// `*`, which matches any version.
    Any,
    /// A list that has the tag.
    Holds,
    /// A list that does not have the tag before its first malformed member.
    Fails,
}

impl IfMatch {
    /// Compares the header with `etag` by strong comparison (RFC 9110 §8.8.3.2). Several header lines count
    /// as one list.
    pub fn check(headers: &HeaderMap, etag: &str) -> Self {
        // A line that is not visible ASCII counts as a malformed tag.
        let lines = headers.get_all(header::IF_MATCH);
        let lines = lines.iter().map(|line| line.to_str().unwrap_or("?"));
        let text = lines.collect::<Vec<_>>().join(",");
        match text.trim() {
            "" => Self::Missing,
            "*" => Self::Any,
            list if parse_tags(list).contains(&(false, etag.to_owned())) => Self::Holds,
            _ => Self::Fails,
        }
    }
}

/// A parsed `If-None-Match` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfNoneMatch {
    /// `*`, which matches any version.
    Any,
    /// The tags before the first malformed member of each line, without the prefix `W/`. Empty if the header
    /// is absent.
    Tags(Vec<String>),
}

impl IfNoneMatch {
    /// Parses the header. Several header lines count as one list.
    pub fn read(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::IF_NONE_MATCH).iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        if lines.iter().any(|line| line.trim() == "*") {
            return Self::Any;
        }
        let tags = lines.into_iter().flat_map(parse_tags);
        Self::Tags(tags.map(|(_, tag)| tag).collect())
    }

    /// Returns whether the header matches `etag` by weak comparison (RFC 9110 §8.8.3.2).
    pub fn matches(&self, etag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|tag| tag == etag),
        }
    }
}

/// Returns the entity tag of a compressed response, from the tag of the same version uncompressed. A
/// malformed tag is returned unchanged.
pub(crate) fn for_gzip(etag: &str) -> String {
    match etag.strip_suffix('"') {
        Some(open) => format!("{open}{GZIP_SUFFIX}\""),
        None => etag.to_owned(),
    }
}

/// Parses a list of entity tags. Returns each tag without the suffix of compressed responses, paired with
/// `true` if the tag is weak. Parsing stops at the first malformed member, because the bounds of the
/// following ones are unknown.
fn parse_tags(mut rest: &str) -> Vec<(bool, String)> {
    let mut tags = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let Some((opaque, after)) = quoted.strip_prefix('"').and_then(|text| text.split_once('"')) else {
            return tags;
        };
        let after = after.trim_start_matches([' ', '\t']);
        if !(after.is_empty() || after.starts_with(',')) {
            return tags;
        }
        let opaque = opaque.strip_suffix(GZIP_SUFFIX).unwrap_or(opaque);
        tags.push((weak, format!("\"{opaque}\"")));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares the header with this value with the entity tag `"7-1"`.
    fn if_match(value: &str) -> IfMatch {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_MATCH, value.parse().unwrap());
        IfMatch::check(&headers, r#""7-1""#)
    }

    #[test]
    fn if_match_holds_on_strong_tags_only() {
        for value in [r#""7-1""#, r#"W/"7-1", "7-1""#, r#",, "7-1" ,"#, r#""a,b","7-1""#] {
            assert_eq!(if_match(value), IfMatch::Holds, "{value}");
        }
        for value in [
            r#"W/"7-1""#,
            "7-1",
            r#""7-1"#,
            r#""7-1"x"#,
            r#""7-10""#,
            r#"w/"7-1""#,
            "**",
            r#"x, "7-1""#,
        ] {
            assert_eq!(if_match(value), IfMatch::Fails, "{value}");
        }
        assert_eq!(if_match("*"), IfMatch::Any);
        assert_eq!(if_match(" "), IfMatch::Missing);
        assert_eq!(IfMatch::check(&HeaderMap::new(), ""), IfMatch::Missing);
    }

    #[test]
    fn the_tag_of_a_compressed_response_matches_its_version() {
        assert_eq!(for_gzip(r#""7-1""#), r#""7-1--gzip""#);
        assert_eq!(if_match(r#""7-1--gzip""#), IfMatch::Holds);
        for value in [r#"W/"7-1--gzip""#, r#""7-2--gzip""#, r#""7-1--br""#] {
            assert_eq!(if_match(value), IfMatch::Fails, "{value}");
        }
    }

    #[test]
    fn if_none_match_matches_weak_tags() {
        let mut headers = HeaderMap::new();
        assert!(!IfNoneMatch::read(&headers).matches(r#""7-1""#));
        headers.append(header::IF_NONE_MATCH, r#""6-1""#.parse().unwrap());
        headers.append(header::IF_NONE_MATCH, r#"W/"7-1--gzip""#.parse().unwrap());
        assert!(IfNoneMatch::read(&headers).matches(r#""7-1""#));
        assert!(!IfNoneMatch::read(&headers).matches(r#""7""#));
    }

    proptest! {
        #[test]
        fn any_header_is_parsed(value in r#"[ -~]{0,64}"#) {
            if_match(&value);
        }
    }
}
