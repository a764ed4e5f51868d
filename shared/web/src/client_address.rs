//! The client's address, which trusted proxies forward in `X-Forwarded-For` or `Forwarded` (RFC 7239).

use crate::headers::split_unquoted;
use arc_swap::ArcSwap;
use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Once};

/// The networks of proxies whose `X-Forwarded-For` or `Forwarded` header is trusted. Clones share them and
/// the warning about other proxies.
#[derive(Clone, Debug)]
pub struct TrustedProxies {
    networks: Arc<ArcSwap<Vec<IpNet>>>,
    /// Logs the warning once per process; `None` if there is none.
    warning: Option<Arc<Once>>,
}

impl TrustedProxies {
    /// Trusts the proxies in these networks. With `warns`, the first request in which another peer forwards
    /// an address causes a warning in the log.
    pub fn new(networks: Vec<IpNet>, warns: bool) -> Self {
        Self {
            networks: Arc::new(ArcSwap::from_pointee(networks)),
            warning: warns.then(|| Arc::new(Once::new())),
        }
    }

    /// Replaces the networks of all clones by those of `other`.
    pub(crate) fn replace(&self, other: &Self) {
        self.networks.store(other.networks.load_full());
    }

    /// Returns the address of the client: the first address that is not in a trusted network, beginning with
    /// `peer` and continuing with the forwarded addresses from right to left. If all are trusted, or the next
    /// entry is no IP address, returns the last address read. IPv4-mapped IPv6 addresses are returned as
    /// IPv4.
    pub fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        // One version of the networks for all hops, while another may replace it.
        let networks = self.networks.load();
        if !contain(&networks, peer) {
            self.warn_of(peer, headers);
            return peer.to_canonical();
        }
        let mut client = peer;
        for hop in forwarded_addresses(headers).into_iter().rev() {
            let Some(address) = hop else { break };
            client = address;
            if !contain(&networks, client) {
                break;
            }
        }
        client.to_canonical()
    }

    /// Returns whether this is the address of a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        contain(&self.networks.load(), address)
    }

    /// Logs the warning if this untrusted peer forwards an address, as a proxy does that TRUSTED_PROXIES
    /// lacks.
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

/// Returns whether one of the networks has this address.
fn contain(networks: &[IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}

/// Returns the addresses in `X-Forwarded-For`, or without it those in `Forwarded`, in their order. An entry
/// is `None` if it is no IP address. A proxy that adds to one of them may pass on the other one as the client
/// sent it, so only one of them counts.
fn forwarded_addresses(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    const X_FORWARDED_FOR: &str = "x-forwarded-for";
    let lines = |name| headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    if headers.contains_key(X_FORWARDED_FOR) {
        let entries = lines(X_FORWARDED_FOR).flat_map(|line| line.split(','));
        return entries.map(parse_node).collect();
    }
    let elements = lines("forwarded").flat_map(|line| split_unquoted(line, ','));
    elements
        .map(|element| forwarded_for(element).and_then(parse_node))
        .collect()
}

/// Returns the parameter `for` of an element of `Forwarded` (RFC 7239 §4), without its quotation marks.
fn forwarded_for(element: &str) -> Option<&str> {
    let mut pairs = split_unquoted(element, ';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Some(unquoted.unwrap_or(value))
}

/// Parses an address with or without a port: `203.0.113.7:51234`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:443` (RFC 7239 §6).
fn parse_node(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bracketed = || {
        text.strip_prefix('[')?
            .strip_suffix(']')?
            .parse::<Ipv6Addr>()
            .ok()
    };
    let plain = text.parse::<IpAddr>().ok();
    plain
        .or_else(|| text.parse::<SocketAddr>().ok().map(|with_port| with_port.ip()))
        .or_else(|| bracketed().map(IpAddr::V6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn client(peer: &str, forwarded: &str) -> String {
        client_by("x-forwarded-for", peer, forwarded)
    }

    fn client_by(header: &'static str, peer: &str, forwarded: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(header, forwarded.parse().unwrap());
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()], false);
        proxies
            .client_address(peer.parse().unwrap(), &headers)
            .to_string()
    }

    proptest! {
        #[test]
        fn an_untrusted_peer_cannot_forward_an_address(forwarded in "[ -~]{0,64}") {
            prop_assert_eq!(client("192.0.2.1", &forwarded), "192.0.2.1");
            prop_assert_eq!(client_by("forwarded", "192.0.2.1", &forwarded), "192.0.2.1");
        }

        #[test]
        fn the_entry_of_the_proxy_counts_whatever_the_client_sent(sent in "[ -~&&[^\"\\\\]]{0,64}") {
            let appended = format!("{sent}, 198.51.100.7");
            prop_assert_eq!(client("10.0.0.1", &appended), "198.51.100.7");
            let appended = format!("{sent}, for=198.51.100.7;host=\"{sent}\"");
            prop_assert_eq!(client_by("forwarded", "10.0.0.1", &appended), "198.51.100.7");
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

    #[test]
    fn forwarded_addresses_may_have_ports_and_brackets() {
        for (entry, address) in [
            ("203.0.113.7:51234", "203.0.113.7"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[::ffff:203.0.113.7]:1", "203.0.113.7"),
        ] {
            assert_eq!(client("10.0.0.1", entry), address, "{entry}");
            assert_eq!(
                client("10.0.0.1", &format!("9.9.9.9, {entry}, 10.0.0.2:80")),
                address,
                "{entry}"
            );
            assert_eq!(
                client_by("forwarded", "10.0.0.1", &format!("For=\"{entry}\";proto=https")),
                address,
                "{entry}"
            );
        }
        for entry in [
            "203.0.113.7:",
            "203.0.113.7:x",
            "[203.0.113.7]",
            "2001:db8::1]:443",
            "[2001:db8::1",
            "unknown",
            "_hidden",
        ] {
            assert_eq!(client("10.0.0.1", entry), "10.0.0.1", "{entry}");
            assert_eq!(
                client_by("forwarded", "10.0.0.1", &format!("for=\"{entry}\"")),
                "10.0.0.1",
                "{entry}"
            );
        }
    }

    #[test]
    fn quoted_separators_in_forwarded_separate_nothing() {
        let by_proxy = r#"host="a, for=9.9.9.9;for=9.9.9.9";for=198.51.100.7"#;
        assert_eq!(client_by("forwarded", "10.0.0.1", by_proxy), "198.51.100.7");
        let escaped = r#"host="a\", for=9.9.9.9";for=198.51.100.7"#;
        assert_eq!(client_by("forwarded", "10.0.0.1", escaped), "198.51.100.7");
        let nested = "for=192.0.2.43, for=198.51.100.7;by=10.0.0.3 , for=10.0.0.2";
        assert_eq!(client_by("forwarded", "10.0.0.1", nested), "198.51.100.7");
    }

    #[test]
    fn a_forwarded_header_beside_x_forwarded_for_is_ignored() {
        let mut headers = HeaderMap::new();
        headers.insert("forwarded", "for=9.9.9.9".parse().unwrap());
        headers.insert("x-forwarded-for", "198.51.100.7".parse().unwrap());
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()], false);
        let address = proxies.client_address("10.0.0.1".parse().unwrap(), &headers);
        assert_eq!(address.to_string(), "198.51.100.7");
    }
}
