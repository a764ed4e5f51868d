//! The setting that names the hosts at which apps may describe themselves.

use std::str::FromStr;
use url::Host;

/// The hosts whose client ID metadata documents are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentHosts {
    /// No host.
    Off,
    /// Every host.
    Any,
    /// These hosts, whatever the port. Their subdomains are other hosts.
    Listed(Vec<String>),
}

impl DocumentHosts {
    /// Returns whether no document is accepted.
    pub const fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Returns whether documents at this host, in its normal form, are accepted.
    pub(super) fn allows(&self, host: &str) -> bool {
        match self {
            Self::Off => false,
            Self::Any => true,
            Self::Listed(hosts) => hosts.iter().any(|listed| listed == host),
        }
    }
}

impl FromStr for DocumentHosts {
    type Err = String;

    /// Parses `off`, `any`, or host names separated by commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let parse_host = |name: &str| {
            let host = Host::parse(name.trim()).map(|host| host.to_string());
            host.map_err(|error| format!("{name:?} is not off, any or a list of host names: {error}"))
        };
        match text {
            "off" => Ok(Self::Off),
            "any" => Ok(Self::Any),
            hosts => hosts
                .split(',')
                .map(parse_host)
                .collect::<Result<_, _>>()
                .map(Self::Listed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_in_their_normal_form() {
        let hosts: DocumentHosts = "App.Example, 127.0.0.1,[::1],bücher.example".parse().unwrap();
        for host in ["app.example", "127.0.0.1", "[::1]", "xn--bcher-kva.example"] {
            assert!(hosts.allows(host), "{host}");
        }
        for host in ["example", "www.app.example", "app.example.", "127.0.0.2"] {
            assert!(!hosts.allows(host), "{host}");
        }
        assert!(DocumentHosts::Any.allows("app.example"));
        assert!(!DocumentHosts::Off.allows("app.example"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "app.example,",
            "https://app.example",
            "app.example/path",
            "a b",
        ] {
            assert!(text.parse::<DocumentHosts>().is_err(), "{text:?}");
        }
    }
}
