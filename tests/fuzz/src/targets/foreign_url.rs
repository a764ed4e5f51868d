//! URLs of third parties: an accepted URL is `https` and names a host or a public address, and its normal
//! form, in which it is requested, is accepted too.

use crate::harness::{ISSUER, text};
use http_client::Guard;
use std::net::IpAddr;
use url::{Host, Url};

pub(super) fn check(input: &[u8]) {
    let guard = Guard::of_server(ISSUER);
    let Some(Ok(url)) = text(input).map(|text| guard.parse(text)) else {
        return;
    };
    let url = Url::parse(&String::from(url)).expect("an accepted URL is a URL");
    assert!(guard.parse(url.as_str()).is_ok());
    assert!(url.scheme() == "https" && url.username().is_empty() && url.password().is_none());
    let address = match url.host().expect("a URL with https has a host") {
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address).to_canonical(),
        Host::Domain(_) => return,
    };
    assert!(!address.is_loopback() && !address.is_unspecified() && !address.is_multicast());
    assert!(!matches!(address, IpAddr::V4(address) if address.is_private() || address.is_link_local()));
}
