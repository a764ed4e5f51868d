//! The lockout: five failures of one identity from one address in fifteen minutes.

use super::email::Email;
use crate::clock::Timestamp;
use crate::ephemeral::Window;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Five failures in a sliding fifteen minutes lock for fifteen minutes from the fifth.
pub const WINDOW: Window = Window {
    limit: 5,
    length: Duration::from_secs(15 * 60),
};

/// How long the answer to the nth failure is held back.
pub fn delay(failures: usize) -> Duration {
    Duration::from_millis(match failures {
        0 | 1 => 0,
        2 => 100,
        3 => 200,
        4 => 400,
        _ => 800,
    })
}

/// What failures are counted by. An IPv6 customer holds a /64, so that is one address. An account that was
/// unlocked has names of its own since: whatever was counted under the former ones, on whatever store, is over.
pub fn key(email: &Email, address: Option<IpAddr>, unlocked_at: Option<Timestamp>) -> String {
    let address = match address {
        Some(IpAddr::V6(v6)) => match v6.to_ipv4_mapped() {
            Some(v4) => v4.to_string(),
            None => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).to_string(),
        },
        Some(v4) => v4.to_string(),
        None => String::new(),
    };
    let since = unlocked_at.map_or(0, Timestamp::micros);
    format!("login {} {address} {since}", email.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_and_an_address_have_one_key_however_written() {
        let ann = |address: &str| {
            key(
                &Email::parse("ann@example.org").unwrap(),
                address.parse().ok(),
                None,
            )
        };
        let shouting = key(
            &Email::parse(" ANN@Example.ORG").unwrap(),
            "::ffff:10.0.0.1".parse().ok(),
            None,
        );
        assert_eq!(ann("10.0.0.1"), shouting);
        assert_eq!(ann("2001:db8:1:2::1"), ann("2001:db8:1:2:ffff::9"));
        assert_ne!(ann("2001:db8:1:2::1"), ann("2001:db8:1:3::1"));
    }
}
