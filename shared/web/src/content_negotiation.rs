//! Content negotiation by `Accept`, `Accept-Encoding` and `Accept-Language` (RFC 9110 §12.4.2, §12.5).

use crate::headers::split_unquoted;
use axum::http::{HeaderMap, HeaderName, header};

/// The maximum total length of a header's lines, in bytes. A longer header counts as absent.
const MAX_LENGTH: usize = 4096;

/// The members of such a header: names as the client wrote them, each with its weight in thousandths.
#[derive(Debug)]
pub(crate) struct Preferences<'a>(Vec<(&'a str, u16)>);

impl<'a> Preferences<'a> {
    /// Parses the header. Several header lines count as one list, and malformed members are left out.
    pub(crate) fn read(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let lines = headers.get_all(name);
        let lines: Vec<&'a str> = lines.iter().filter_map(|line| line.to_str().ok()).collect();
        if lines.iter().map(|line| line.len()).sum::<usize>() > MAX_LENGTH {
            return Self(Vec::new());
        }
        let members = lines.iter().flat_map(|line| split_unquoted(line, ','));
        Self(members.filter_map(parse_member).collect())
    }

    /// Returns the weight, in thousandths, of the first of `names` that the header lists, or 0 if it lists
    /// none. Upper and lower case count as equal. The caller passes the most specific name first, such as a
    /// media type before its range. If the header lists a name more than once, its highest weight counts.
    pub(crate) fn weight(&self, names: &[&str]) -> u16 {
        let listed = |name: &&str| {
            let weights = self.0.iter();
            let weights = weights.filter(|(found, _)| found.eq_ignore_ascii_case(name));
            weights.map(|(_, weight)| *weight).max()
        };
        names.iter().find_map(listed).unwrap_or(0)
    }
}

/// Returns whether `Accept` lists a media type by its name, with at least the weight of JSON.
pub fn prefers_to_json(headers: &HeaderMap, media_type: &str) -> bool {
    let accept = Preferences::read(headers, &header::ACCEPT);
    let weight = accept.weight(&[media_type]);
    weight > 0 && weight >= accept.weight(&["application/json", "application/*", "*/*"])
}

/// Returns whether `Accept` lists a media type by its name, and neither JSON nor a range that contains JSON.
pub fn excludes_json(headers: &HeaderMap, media_type: &str) -> bool {
    let accept = Preferences::read(headers, &header::ACCEPT);
    accept.weight(&[media_type]) > 0 && accept.weight(&["application/json", "application/*", "*/*"]) == 0
}

/// Returns the language among `supported`, which are primary subtags in lower case, that `Accept-Language`
/// gives the highest weight (RFC 4647 §3.4). Among equal weights the first in the header counts. Returns
/// `None` if the header lists none of them.
pub fn preferred_language<'a>(headers: &HeaderMap, supported: &[&'a str]) -> Option<&'a str> {
    let Preferences(ranges) = Preferences::read(headers, &header::ACCEPT_LANGUAGE);
    let listed = ranges.iter().filter_map(|(range, weight)| {
        let primary = range.split('-').next()?;
        let language = supported
            .iter()
            .find(|language| language.eq_ignore_ascii_case(primary))?;
        (*weight > 0).then_some((*language, *weight))
    });
    // `max_by_key` returns the last of equal members.
    let listed: Vec<_> = listed.collect();
    let best = listed.into_iter().rev().max_by_key(|(_, weight)| *weight);
    best.map(|(language, _)| language)
}

/// Parses a member into its name and its weight, which is 1000 without the parameter `q`. Other
/// parameters are ignored. Returns `None` if the weight is malformed.
fn parse_member(text: &str) -> Option<(&str, u16)> {
    let mut parts = split_unquoted(text, ';').map(str::trim);
    let name = parts.next()?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((name, weight.map_or(Some(1000), parse_qvalue)?))
}

/// Parses a `qvalue` (RFC 9110 §12.4.2), 0 to 1 with at most three decimals, into thousandths.
fn parse_qvalue(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let decimals: u16 = format!("{decimals:0<3}").parse().ok()?;
    match (whole, decimals) {
        ("0", decimals) => Some(decimals),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accept(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())])
    }

    fn weight(headers: &HeaderMap, names: &[&str]) -> u16 {
        Preferences::read(headers, &header::ACCEPT).weight(names)
    }

    #[test]
    fn the_first_listed_name_determines_the_weight() {
        let accept = accept(r#"A/b;q=0.25, a/*;x="q=1;\",";q=0.5,*/*;q=0.1, a/c;q=0"#);
        assert_eq!(weight(&accept, &["a/b", "a/*", "*/*"]), 250);
        assert_eq!(weight(&accept, &["a/x", "a/*", "*/*"]), 500);
        assert_eq!(weight(&accept, &["a/c", "a/*", "*/*"]), 0);
        assert_eq!(weight(&accept, &["x/y"]), 0);
    }

    #[test]
    fn a_header_over_the_limit_counts_as_absent() {
        let long = format!("gzip{}", ", x".repeat(2_000));
        assert_eq!(weight(&accept(&long), &["gzip"]), 0);
    }

    proptest! {
        #[test]
        fn weights_are_at_most_1000_for_any_header(value in r#"[a-c/*;q=.,"\\ 0-9]{0,48}"#) {
            for (_, weight) in Preferences::read(&accept(&value), &header::ACCEPT).0 {
                prop_assert!(weight <= 1000);
            }
        }

        #[test]
        fn every_qvalue_is_parsed(weight in 0_u16..=1000) {
            let text = format!("{}.{:03}", weight / 1000, weight % 1000);
            prop_assert_eq!(parse_qvalue(&text), Some(weight));
        }
    }
}
