//! What a caller would rather have: `Accept` and `Accept-Encoding` (RFC 9110 §12.4.2, §12.5).

use axum::http::{HeaderMap, HeaderName};

/// A longer header says nothing.
const MAX_LENGTH: usize = 4096;

/// Names and how much each is wanted, in thousandths.
#[derive(Debug)]
pub(crate) struct Preferences(Vec<(String, u16)>);

impl Preferences {
    /// Reads the header; several lines count as one list. A member that cannot be read is left out.
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> Self {
        let lines: Vec<&str> = headers
            .get_all(name)
            .iter()
            .filter_map(|line| line.to_str().ok())
            .collect();
        if lines.iter().map(|line| line.len()).sum::<usize>() > MAX_LENGTH {
            return Self(Vec::new());
        }
        let members = lines.iter().flat_map(|line| split(line, ','));
        Self(members.filter_map(member).collect())
    }

    /// How much the first of these names that is listed is wanted; 0 if none is. Give the most specific
    /// name first.
    pub(crate) fn weight(&self, names: &[&str]) -> u16 {
        let listed = |name: &&str| {
            let weights = self.0.iter().filter(|(found, _)| found == name);
            weights.map(|(_, weight)| *weight).max()
        };
        names.iter().find_map(listed).unwrap_or(0)
    }
}

/// A name in lower case and its weight. Other parameters than `q` are not told apart.
fn member(text: &str) -> Option<(String, u16)> {
    let mut parts = split(text, ';').into_iter().map(str::trim);
    let name = parts.next()?.to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((name, weight.map_or(Some(1000), thousandths)?))
}

/// A `qvalue` (RFC 9110 §12.4.2): 0 to 1 with three decimals at most.
fn thousandths(text: &str) -> Option<u16> {
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

/// Splits at a separator where it is not within a quoted string (RFC 9110 §5.6.4).
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c: char| {
        let ends = c == separator && !quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        ends
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;
    use proptest::prelude::*;

    fn preferences(value: &str) -> Preferences {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, value.parse().unwrap());
        Preferences::read(&headers, &header::ACCEPT)
    }

    #[test]
    fn the_first_name_that_is_listed_decides() {
        let accept = preferences(r#"a/b;q=0.25, a/*;x="q=1;\",";q=0.5,*/*;q=0.1, a/c;q=0"#);
        assert_eq!(accept.weight(&["a/b", "a/*", "*/*"]), 250);
        assert_eq!(accept.weight(&["a/x", "a/*", "*/*"]), 500);
        assert_eq!(accept.weight(&["a/c", "a/*", "*/*"]), 0);
        assert_eq!(accept.weight(&["x/y"]), 0);
    }

    #[test]
    fn a_header_beyond_its_limit_says_nothing() {
        let long = format!("gzip{}", ", x".repeat(2_000));
        assert_eq!(preferences(&long).weight(&["gzip"]), 0);
    }

    proptest! {
        #[test]
        fn a_weight_is_a_weight_whatever_the_header(value in r#"[a-c/*;q=.,"\\ 0-9]{0,48}"#) {
            for (_, weight) in preferences(&value).0 {
                prop_assert!(weight <= 1000);
            }
        }

        #[test]
        fn a_qvalue_is_what_it_says(weight in 0_u16..=1000) {
            let text = format!("{}.{:03}", weight / 1000, weight % 1000);
            prop_assert_eq!(thousandths(&text), Some(weight));
        }
    }
}
