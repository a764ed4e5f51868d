//! The addresses that no third party may make a server call: the special-purpose addresses (RFC 6890) and
//! multicast.
//!
//! The tables are those of the registries <https://www.iana.org/assignments/iana-ipv4-special-registry> and
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>. Blocks that the registries call globally
//! reachable are in them too, because none of them is the address of a web server.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SPECIAL_V4: [Ipv4Net; 19] = [
    v4([0, 0, 0, 0], 8),        // this network (RFC 791)
    v4([10, 0, 0, 0], 8),       // private use (RFC 1918)
    v4([100, 64, 0, 0], 10),    // shared address space (RFC 6598)
    v4([127, 0, 0, 0], 8),      // loopback (RFC 1122)
    v4([168, 63, 129, 16], 32), // the platform's endpoint in Azure, which only virtual machines there reach
    v4([169, 254, 0, 0], 16),   // link-local (RFC 3927), with the metadata services of most clouds
    v4([172, 16, 0, 0], 12),    // private use (RFC 1918)
    v4([192, 0, 0, 0], 24),     // IETF protocol assignments (RFC 6890)
    v4([192, 0, 2, 0], 24),     // documentation (RFC 5737)
    v4([192, 31, 196, 0], 24),  // AS112 (RFC 7535)
    v4([192, 52, 193, 0], 24),  // multicast tunneling (RFC 7450)
    v4([192, 88, 99, 0], 24),   // 6to4 relays (RFC 7526)
    v4([192, 168, 0, 0], 16),   // private use (RFC 1918)
    v4([192, 175, 48, 0], 24),  // AS112 (RFC 7534)
    v4([198, 18, 0, 0], 15),    // benchmarking (RFC 2544)
    v4([198, 51, 100, 0], 24),  // documentation (RFC 5737)
    v4([203, 0, 113, 0], 24),   // documentation (RFC 5737)
    v4([224, 0, 0, 0], 4),      // multicast (RFC 5771)
    v4([240, 0, 0, 0], 4),      // reserved (RFC 1112), with the limited broadcast address (RFC 919)
];

/// The only block of global unicast addresses (RFC 4291 §2.4). Outside it are, among others, loopback,
/// IPv4-mapped and NAT64 addresses (`::/8`, `64:ff9b::/96`, `64:ff9b:1::/48`), unique local and link-local
/// ones and multicast.
const GLOBAL_UNICAST_V6: Ipv6Net = v6([0x2000, 0, 0], 3);

const SPECIAL_V6: [Ipv6Net; 5] = [
    v6([0x2001, 0, 0], 23), // IETF protocol assignments (RFC 2928), Teredo (RFC 4380), ORCHID (RFC 7343)
    v6([0x2001, 0xdb8, 0], 32), // documentation (RFC 3849)
    v6([0x2002, 0, 0], 16), // 6to4 (RFC 3056), which contains any IPv4 address
    v6([0x2620, 0x4f, 0x8000], 48), // AS112 (RFC 7534)
    v6([0x3fff, 0, 0], 20), // documentation (RFC 9637)
];

/// Returns whether a server on the internet can have this address.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|block| block.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_UNICAST_V6.contains(&address) && !SPECIAL_V6.iter().any(|block| block.contains(&address))
        }
    }
}

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]), prefix)
}

const fn v6(start: [u16; 3], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(start[0], start[1], start[2], 0, 0, 0, 0, 0), prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_public_text(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn special_purpose_addresses_are_not_public_up_to_the_ends_of_their_blocks() {
        for text in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.0.255",
            "192.0.2.1",
            "192.31.196.1",
            "192.52.193.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "192.175.48.1",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::a00:1",
            "100::1",
            "100:0:0:1::1",
            "2001::1",
            "2001:0:4136:e378::1",
            "2001:2::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a9fe:a9fe::",
            "2620:4f:8000::1",
            "3fff::1",
            "3fff:fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "ffff::1",
        ] {
            assert!(!is_public_text(text), "{text}");
        }
    }

    #[test]
    fn their_neighbors_are_public() {
        for text in [
            "1.0.0.0",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2620:4f:7fff::1",
            "3ffe::1",
            "3fff:1000::1",
            "3fff:ffff::1",
        ] {
            assert!(is_public_text(text), "{text}");
        }
    }

    proptest! {
        /// The standard library's own classification, as far as it is stable.
        #[test]
        fn an_address_that_the_standard_library_calls_special_is_not_public(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            prop_assert!(!(is_special && is_public(address.into())), "{address}");
        }

        #[test]
        fn an_address_that_contains_an_ipv4_address_is_not_public(bits: u32) {
            let [a, b, c, d] = bits.to_be_bytes();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            for segments in [
                [0, 0, 0, 0, 0, 0, high, low],
                [0, 0, 0, 0, 0, 0xffff, high, low],
                [0, 0, 0, 0, 0xffff, 0, high, low],
                [0x64, 0xff9b, 0, 0, 0, 0, high, low],
                [0x64, 0xff9b, 1, 0, 0, 0, high, low],
                [0x2002, high, low, 0, 0, 0, 0, 1],
                [0x2001, 0, high, low, 0, 0, !high, !low],
            ] {
                let address = Ipv6Addr::from(segments);
                prop_assert!(!is_public(address.into()), "{address}");
            }
        }

        #[test]
        fn an_address_outside_global_unicast_is_not_public(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            prop_assert!(bits >> 125 == 1 || !is_public(address.into()), "{address}");
        }
    }
}
