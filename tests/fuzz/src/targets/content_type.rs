//! `Content-Type`: a media type is read from the only such header, in lower case and without parameters.

use crate::harness::headers;
use axum::http::header;
use web::body::media_type;

pub(super) fn check(input: &[u8]) {
    let content_type = headers(&header::CONTENT_TYPE, input);
    let Some(media_type) = media_type(&content_type) else {
        return;
    };
    assert_eq!(content_type.len(), 1);
    assert_eq!(media_type, media_type.to_ascii_lowercase());
    assert!(!media_type.contains(';') && media_type.trim() == media_type);
}
