//! The client's address, which trusted proxies forward in `X-Forwarded-For`.

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::{Arc, Once};

/// The IP address of the TCP peer. The accept loop of the server adds it to the extensions of every request.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub IpAddr);

/// The networks of proxies whose `X-Forwarded-For` header is trusted. Clones share the warning about other proxies.
#[derive(Clone, Debug)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
    /// Logs the warning once per process; `None` if there is none.
    warning: Option<Arc<Once>>,
}

impl TrustedProxies {
    /// Trusts the proxies in these networks. With `warns`, the first request in which another peer forwards an address
    /// causes a warning in the log.
    pub fn new(networks: Vec<IpNet>, warns: bool) -> Self {
        Self {
            networks,
            warning: warns.then(|| Arc::new(Once::new())),
        }
    }

    /// Returns the address of the client: the first address that is not in a trusted network, beginning with `peer`
    /// and continuing with `X-Forwarded-For` from right to left. If all are trusted, or the next entry is no IP
    /// address, returns the last address read. IPv4-mapped IPv6 addresses are returned as IPv4.
    pub fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            self.warn_of(peer, headers);
        }
        let hops: Vec<&str> = headers
            .get_all("x-forwarded-for")
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .collect();
        let mut client = peer;
        for hop in hops.iter().rev() {
            if !self.trusts(client) {
                break;
            }
            match hop.trim().parse() {
                Ok(address) => client = address,
                Err(_) => break,
            }
        }
        client.to_canonical()
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Logs the warning if this untrusted peer forwards an address, as a proxy does that TRUSTED_PROXIES lacks.
    fn warn_of(&self, peer: IpAddr, headers: &HeaderMap) {
        let Some(warning) = &self.warning else {
            return;
        };
        if ["x-forwarded-for", "forwarded"]
            .iter()
            .any(|name| headers.contains_key(*name))
        {
            warning.call_once(|| {
                tracing::warn!(
                    address = %peer.to_canonical(),
                    "a peer that TRUSTED_PROXIES does not name forwards the addresses of clients: if it is your \
                     proxy, add it, because until then all clients share its address and lock each other out"
                );
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(peer: &str, forwarded: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().unwrap());
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()], false);
        proxies
            .client_address(peer.parse().unwrap(), &headers)
            .to_string()
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
