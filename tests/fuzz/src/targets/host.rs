//! `Host`: a request passes the check only with exactly one header, of characters that the host of a URL can
//! have.

use crate::harness::{ISSUER, empty_database, headers, wait};
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use std::sync::{Arc, LazyLock};
use storage::clock_check::ClockCheck;
use url::Url;
use web::Policy;
use web::client_address::TrustedProxies;
use web::program::Program;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let policy = Policy {
        base_url: Url::parse(ISSUER).expect("a URL"),
        allowed_origins: Default::default(),
        trusted_proxies: TrustedProxies::new(Vec::new(), false),
    };
    Program::new(
        Router::new(),
        Arc::new(policy),
        ClockCheck::new(empty_database().clone()),
    )
});

pub(super) fn check(input: &[u8]) {
    let mut request = Request::new(Body::empty());
    *request.headers_mut() = headers(&header::HOST, input);
    let hosts: Vec<Vec<u8>> = request
        .headers()
        .values()
        .map(|host| host.as_bytes().to_vec())
        .collect();
    match wait(PROGRAM.clone().handle(request)).status() {
        StatusCode::BAD_REQUEST => {}
        StatusCode::NOT_FOUND => {
            assert_eq!(hosts.len(), 1);
            let is_of_host = |byte: &u8| byte.is_ascii_graphic() && !b"@/?#\\<>\"".contains(byte);
            assert!(
                !hosts[0].is_empty() && hosts[0].iter().all(is_of_host),
                "{hosts:?}"
            );
        }
        other => unreachable!("{other}"),
    }
}
