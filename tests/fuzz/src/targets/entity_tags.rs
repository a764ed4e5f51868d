//! `If-Match` and `If-None-Match`: every tag that was read is quoted, and matches the tag of the compressed
//! response too. A tag that matches by strong comparison matches by weak comparison.

use crate::harness::headers;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use web::etag::{IfMatch, IfNoneMatch};

/// The entity tag with which the inputs are compared.
const ETAG: &str = r#""7-1""#;

pub(super) fn check(input: &[u8]) {
    let if_match = IfMatch::check(&headers(&header::IF_MATCH, input), ETAG);
    let if_none_match = IfNoneMatch::read(&headers(&header::IF_NONE_MATCH, input));
    // Several lines of If-Match are joined before they are parsed, so a malformed line ends the list.
    let is_one_line = !input.contains(&b'\n');
    match if_match {
        IfMatch::Any if is_one_line => assert_eq!(if_none_match, IfNoneMatch::Any),
        IfMatch::Holds if is_one_line => assert!(if_none_match.matches(ETAG)),
        _ => {}
    }
    if let IfNoneMatch::Tags(tags) = if_none_match {
        for tag in tags {
            check_quotes(&tag);
            let strong = one_line(&header::IF_MATCH, &compressed(&tag));
            assert_eq!(IfMatch::check(&strong, &tag), IfMatch::Holds);
            let weak = format!("W/{}", compressed(&tag));
            let again = IfNoneMatch::read(&one_line(&header::IF_NONE_MATCH, &weak));
            assert_eq!(again, IfNoneMatch::Tags(vec![tag.clone()]));
            assert!(again.matches(&tag));
        }
    }
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
