//! Entity tags and preconditions (RFC 9110 §8.8.3, §13.1).

use axum::http::{HeaderMap, header};
use foundation::schema;

/// How the tag of a compressed answer ends.
const GZIP: &str = "--gzip";

/// Entity tags in a header, or any.
const TAGS: &str = r#"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

schema! {
    IfMatch = schema::text(1, 8_192, TAGS, "Entity tags, separated by commas, or `*`.");
}

/// What an `If-Match` header asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Absent or empty.
    Missing,
    /// `*`: whatever version there is.
    Any,
    /// One of these tags. Weak and unreadable ones are left out: they match nothing.
    Tags(Vec<String>),
}

impl IfMatch {
    /// Reads the header; several lines count as one list.
    pub fn read(headers: &HeaderMap) -> Self {
        // A line that is no text is an unreadable member: it matches nothing.
        let lines = headers
            .get_all(header::IF_MATCH)
            .iter()
            .map(|line| line.to_str().unwrap_or("?"));
        let text = lines.collect::<Vec<_>>().join(",");
        if text.trim().is_empty() {
            return Self::Missing;
        }
        if text.trim() == "*" {
            return Self::Any;
        }
        Self::Tags(
            tags(&text)
                .into_iter()
                .filter(|(weak, _)| !weak)
                .map(|(_, tag)| tag)
                .collect(),
        )
    }

    /// Strong comparison (RFC 9110 §8.8.3.2).
    pub fn matches(&self, etag: &str) -> bool {
        match self {
            Self::Missing => false,
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|tag| tag == etag),
        }
    }
}

/// What an `If-None-Match` header names.
#[derive(Clone, Debug)]
pub(crate) enum IfNoneMatch {
    /// `*`: whatever version there is.
    Any,
    /// One of these tags; none if the header is absent or unreadable.
    Tags(Vec<String>),
}

impl IfNoneMatch {
    /// Reads the header; several lines count as one list.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::IF_NONE_MATCH).iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        if lines.iter().any(|line| line.trim() == "*") {
            return Self::Any;
        }
        let tags = lines.into_iter().flat_map(tags);
        Self::Tags(tags.map(|(_, tag)| tag).collect())
    }

    /// Weak comparison (RFC 9110 §8.8.3.2).
    pub(crate) fn matches(&self, etag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|tag| tag == etag),
        }
    }
}

/// The tag of the same version under gzip.
pub(crate) fn compressed(etag: &str) -> String {
    match etag.strip_suffix('"') {
        Some(open) => format!("{open}{GZIP}\""),
        None => etag.to_owned(),
    }
}

/// The tags of a list, each with whether it is weak, as they are without compression. An unreadable member
/// ends the list: nothing after it can be told apart.
fn tags(mut rest: &str) -> Vec<(bool, String)> {
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
        let opaque = opaque.strip_suffix(GZIP).unwrap_or(opaque);
        tags.push((weak, format!("\"{opaque}\"")));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn if_match(value: &str) -> IfMatch {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_MATCH, value.parse().unwrap());
        IfMatch::read(&headers)
    }

    #[test]
    fn strong_tags_match_and_weak_or_unreadable_ones_never_do() {
        for value in [
            r#""7-1""#,
            "*",
            r#"W/"7-1", "7-1""#,
            r#",, "7-1" ,"#,
            r#""a,b","7-1""#,
        ] {
            assert!(if_match(value).matches(r#""7-1""#), "{value}");
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
            assert!(!if_match(value).matches(r#""7-1""#), "{value}");
            assert_ne!(if_match(value), IfMatch::Missing, "{value}");
        }
        assert_eq!(if_match(" "), IfMatch::Missing);
        assert_eq!(IfMatch::read(&HeaderMap::new()), IfMatch::Missing);
    }

    #[test]
    fn the_tag_of_a_compressed_answer_is_that_of_its_version() {
        assert_eq!(compressed(r#""7-1""#), r#""7-1--gzip""#);
        assert!(if_match(r#""7-1--gzip""#).matches(r#""7-1""#));
        assert!(!if_match(r#"W/"7-1--gzip""#).matches(r#""7-1""#));
        assert!(!if_match(r#""7-2--gzip""#).matches(r#""7-1""#));
        assert!(!if_match(r#""7-1--br""#).matches(r#""7-1""#));
    }

    #[test]
    fn weak_tags_do_for_a_read() {
        let mut headers = HeaderMap::new();
        assert!(!IfNoneMatch::read(&headers).matches(r#""7-1""#));
        headers.append(header::IF_NONE_MATCH, r#""6-1""#.parse().unwrap());
        headers.append(header::IF_NONE_MATCH, r#"W/"7-1--gzip""#.parse().unwrap());
        assert!(IfNoneMatch::read(&headers).matches(r#""7-1""#));
        assert!(!IfNoneMatch::read(&headers).matches(r#""7""#));
    }

    proptest! {
        #[test]
        fn any_header_is_read(value in r#"[ -~]{0,64}"#) {
            let _ = if_match(&value).matches("\"7-1\"");
        }
    }
}
