//! `X-Forwarded-For`: a client that is not a trusted proxy cannot choose the address, whatever it sends.

use crate::harness::headers;
use axum::http::{HeaderName, HeaderValue};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr};
use web::client_address::TrustedProxies;

pub(super) fn check(input: &[u8]) {
    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let name = HeaderName::from_static("x-forwarded-for");
    let mut sent = headers(&name, input);
    let proxies = TrustedProxies::new(vec![IpNet::from(PROXY)], false);
    assert_eq!(proxies.client_address(CLIENT, &sent), CLIENT);
    let address = proxies.client_address(PROXY, &sent);
    assert_eq!(address, address.to_canonical());
    sent.append(name, HeaderValue::from_static("203.0.113.9"));
    assert_eq!(proxies.client_address(PROXY, &sent), CLIENT);
}
