//! `Authorization: Bearer` and `DPoP`: a token is read from the only such header, after the scheme.

use crate::harness::headers;
use axum::http::header;
use web::bearer::{self, PresentedToken};

pub(super) fn check(input: &[u8]) {
    let headers = headers(&header::AUTHORIZATION, input);
    match bearer::token(&headers) {
        Ok(Some(PresentedToken { token, is_dpop })) => {
            let value = headers[header::AUTHORIZATION].as_bytes();
            let scheme: &[u8] = if is_dpop { b"dpop" } else { b"bearer" };
            assert!(headers.len() == 1 && value[..scheme.len()].eq_ignore_ascii_case(scheme));
            assert!(!token.starts_with(' ') && (token.is_empty() || value.ends_with(token.as_bytes())));
        }
        Ok(None) => assert!(headers.len() <= 1),
        Err(_) => assert!(headers.len() > 1),
    }
}
