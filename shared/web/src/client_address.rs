//! The client's address, which trusted proxies forward in `X-Forwarded-For`.

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::IpAddr;

/// The IP address of the TCP peer. The accept loop of the server adds it to the extensions of every request.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// Returns the address of the client: the first address that is not in a `trusted` network, beginning with `peer`
/// and continuing with `X-Forwarded-For` from right to left. If all are trusted, or the next entry is no IP address,
/// returns the last address read. IPv4-mapped IPv6 addresses are returned as IPv4.
pub fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address.to_canonical()));
    let hops: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    let mut client = peer;
    for hop in hops.iter().rev() {
        if !is_trusted(client) {
            break;
        }
        match hop.trim().parse() {
            Ok(address) => client = address,
            Err(_) => break,
        }
    }
    client.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(peer: &str, forwarded: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().unwrap());
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    proptest! {
        #[test]
        fn an_untrusted_peer_cannot_forward_an_address(forwarded in "[ -~]{0,64}") {
            prop_assert_eq!(client("192.0.2.1", &forwarded), "192.0.2.1");
        }
    }

    #[test]
    fn trusted_proxies_forward_the_client_address() {
        assert_eq!(client("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(client("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(
            client("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2"),
            "198.51.100.7"
        );
        assert_eq!(client("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(client("::ffff:10.0.0.1", "198.51.100.7"), "198.51.100.7");
    }
}
