//! The network of an IP address, as the unit of rate limits, of lockouts, and of the clients that fetch
//! the key set.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the network of an address as text: an IPv4 address itself, or the /64 network of an IPv6 address,
/// because one subscriber has a whole /64. An IPv4-mapped IPv6 address counts as IPv4.
pub fn of_address(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_64_share_a_network() {
        let of = |text: &str| of_address(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
    }
}
