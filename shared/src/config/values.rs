//! The values of settings: what each is written like.

use ipnet::IpNet;
use std::net::IpAddr;
use std::time::Duration;
use url::Url;

/// Reads a length of time: a number and s, m, h or d; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(digits) => (digits, text.as_bytes()[text.len() - 1]),
        None => (text, b's'),
    };
    let seconds: u64 = match unit {
        b's' => 1,
        b'm' => 60,
        b'h' => 3_600,
        _ => 86_400,
    };
    let n: u64 = digits
        .parse()
        .map_err(|_| "a length of time is a number and s, m, h or d, such as 10m".to_owned())?;
    match n.checked_mul(seconds) {
        Some(length @ 1..=315_360_000) => Ok(Duration::from_secs(length)),
        _ => Err("a length of time is between 1s and 3650d".to_owned()),
    }
}

/// Reads an http or https URL that is an origin and nothing more.
pub(super) fn parse_origin(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let no_user = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !is_bare || !no_user {
        return Err("it must be an origin, such as https://id.example.org, without path or query".to_owned());
    }
    Ok(url)
}

pub(super) fn parse_network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| "a network is written 10.0.0.0/8 or fd00::/8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_a_length_of_time_or_refused(text in r"\PC{0,24}") {
            if let Ok(length) = parse_duration(&text) {
                prop_assert!((1..=315_360_000).contains(&length.as_secs()));
            }
        }
    }

    #[test]
    fn lengths_of_time() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("14d"), Ok(Duration::from_secs(1_209_600)));
        for text in [
            "",
            "0s",
            "-1s",
            "1w",
            "1.5h",
            "99999999999999999999d",
            "10000d",
            "é",
        ] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_origin_is_an_origin_and_nothing_more() {
        assert!(parse_origin("https://id.example.org").is_ok());
        for text in [
            "id.example.org",
            "ftp://a.b",
            "https://a.b/c",
            "https://a.b?c",
            "https://u@a.b",
        ] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }
}
