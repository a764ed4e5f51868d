//! `Authorization: Bearer`: a token is read from the only such header, after the scheme.

use crate::harness::headers;
use axum::http::header;
use web::bearer;

pub(super) fn check(input: &[u8]) {
    let headers = headers(&header::AUTHORIZATION, input);
    match bearer::token(&headers) {
        Ok(Some(token)) => {
            let value = headers[header::AUTHORIZATION].as_bytes();
            assert!(headers.len() == 1 && value[..6].eq_ignore_ascii_case(b"bearer"));
            assert!(!token.starts_with(' ') && (token.is_empty() || value.ends_with(token.as_bytes())));
        }
        Ok(None) => assert!(headers.len() <= 1),
        Err(_) => assert!(headers.len() > 1),
    }
}
