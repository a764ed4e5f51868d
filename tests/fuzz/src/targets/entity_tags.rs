//! `If-Match` and `If-None-Match`: every tag that was read is quoted, and matches the tag of the compressed
//! response too. A tag that matches by strong comparison matches by weak comparison.

use crate::harness::headers;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use web::etag::{IfMatch, IfNoneMatch};

pub(super) fn check(input: &[u8]) {
    let (if_match, if_none_match) = (if_match(input), if_none_match(input));
    // Several lines of If-Match are joined before they are parsed, so a malformed line ends the list.
    let is_one_line = !input.contains(&b'\n');
    if is_one_line && if_match == IfMatch::Any {
        assert_eq!(if_none_match, IfNoneMatch::Any);
    }
    if let IfMatch::Tags(tags) = if_match {
        for tag in tags {
            check_quotes(&tag);
            let again = IfMatch::read(&one_line(&header::IF_MATCH, &compressed(&tag)));
            assert_eq!(again, IfMatch::Tags(vec![tag.clone()]));
            assert!(again.matches(&tag));
            assert!(!is_one_line || if_none_match.matches(&tag));
        }
    }
    if let IfNoneMatch::Tags(tags) = if_none_match {
        for tag in tags {
            check_quotes(&tag);
            let weak = format!("W/{}", compressed(&tag));
            let again = IfNoneMatch::read(&one_line(&header::IF_NONE_MATCH, &weak));
            assert_eq!(again, IfNoneMatch::Tags(vec![tag.clone()]));
            assert!(again.matches(&tag));
        }
    }
}

fn if_match(input: &[u8]) -> IfMatch {
    IfMatch::read(&headers(&header::IF_MATCH, input))
}

fn if_none_match(input: &[u8]) -> IfNoneMatch {
    IfNoneMatch::read(&headers(&header::IF_NONE_MATCH, input))
}

fn check_quotes(tag: &str) {
    let opaque = tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let opaque = opaque.expect("a tag is quoted");
    assert!(!opaque.contains('"') && !opaque.starts_with("W/\""));
}

/// Returns the tag of the compressed response.
fn compressed(tag: &str) -> String {
    format!("{}--gzip\"", tag.strip_suffix('"').unwrap_or(tag))
}

fn one_line(name: &HeaderName, value: &str) -> HeaderMap {
    let value = HeaderValue::try_from(value).expect("a header's value");
    headers(name, value.as_bytes())
}
