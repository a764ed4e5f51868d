//! `If-Match`: every tag that was read is quoted, and matches the tag of the compressed response too.

use crate::harness::headers;
use axum::http::{HeaderValue, header};
use web::etag::IfMatch;

pub(super) fn check(input: &[u8]) {
    let IfMatch::Tags(tags) = IfMatch::read(&headers(&header::IF_MATCH, input)) else {
        return;
    };
    for tag in tags {
        let opaque = tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let opaque = opaque.expect("a tag is quoted");
        assert!(!opaque.contains('"') && !opaque.starts_with("W/\""));
        let compressed = HeaderValue::try_from(format!("\"{opaque}--gzip\"")).expect("a header's value");
        let again = headers(&header::IF_MATCH, compressed.as_bytes());
        assert_eq!(IfMatch::read(&again), IfMatch::Tags(vec![tag.clone()]));
        assert!(IfMatch::read(&again).matches(&tag));
    }
}
