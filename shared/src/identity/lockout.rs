//! The lockout: five failures of one identity from one address in fifteen minutes.

use super::email::Email;
use crate::ephemeral::Window;
use crate::network;
use std::net::IpAddr;
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

/// What failures are counted by: an address and a network.
pub fn key(email: &Email, address: Option<IpAddr>) -> String {
    let address = address.map(network::of).unwrap_or_default();
    format!("login {} {address}", email.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_and_an_address_have_one_key_however_written() {
        let ann = |address: &str| key(&Email::parse("ann@example.org").unwrap(), address.parse().ok());
        let shouting = key(
            &Email::parse(" ANN@Example.ORG").unwrap(),
            "::ffff:10.0.0.1".parse().ok(),
        );
        assert_eq!(ann("10.0.0.1"), shouting);
        assert_eq!(ann("2001:db8:1:2::1"), ann("2001:db8:1:2:ffff::9"));
        assert_ne!(ann("2001:db8:1:2::1"), ann("2001:db8:1:3::1"));
    }
}
