//! Durations in settings and in messages.

use serde::Serializer;
use std::time::Duration;

/// Parses a duration between 1 s and 3650 d: an integer with the unit `s`, `m`, `h` or `d`, or without a unit
/// in seconds. The error is a message for the operator.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(digits) => (digits, text.as_bytes()[text.len() - 1]),
        None => (text, b's'),
    };
    let seconds_per_unit: u64 = match unit {
        b's' => 1,
        b'm' => 60,
        b'h' => 3_600,
        _ => 86_400,
    };
    let n: u64 = digits
        .parse()
        .map_err(|_| "a duration is an integer followed by s, m, h or d, such as 10m".to_owned())?;
    match n.checked_mul(seconds_per_unit) {
        Some(seconds @ 1..=315_360_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("a duration must be between 1s and 3650d".to_owned()),
    }
}

/// Parses a duration of at most `limit` like [`parse_duration`], or zero. The error is a message for the
/// operator.
pub fn parse_up_to(limit: Duration, text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        _ => parse_duration(text).and_then(|length| match length <= limit {
            true => Ok(length),
            false => Err(format!("the duration must be at most {}", in_words(limit))),
        }),
    }
}

/// Serializes a duration as its number of whole seconds.
pub fn serialize_as_seconds<S: Serializer>(length: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(length.as_secs())
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A second.
    Second,
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    Day,
}

/// Rounds a duration up to a whole number of seconds below a minute, of minutes below two hours, of hours
/// below two days, otherwise of days. The number is at least 1, and 60 minutes are an hour.
pub fn rounded_up(length: Duration) -> (u64, Unit) {
    in_units(length, u64::div_ceil)
}

/// Rounds a duration down to the units of [`rounded_up`], for the time since something happened.
pub fn rounded_down(length: Duration) -> (u64, Unit) {
    in_units(length, |seconds, unit| seconds / unit)
}

fn in_units(length: Duration, divide: fn(u64, u64) -> u64) -> (u64, Unit) {
    match length.as_secs() {
        seconds if seconds < 60 => (seconds.max(1), Unit::Second),
        seconds if seconds < 7_200 => match divide(seconds, 60) {
            60 => (1, Unit::Hour),
            minutes => (minutes, Unit::Minute),
        },
        seconds if seconds < 172_800 => (divide(seconds, 3_600), Unit::Hour),
        seconds => (divide(seconds, 86_400), Unit::Day),
    }
}

/// Formats a duration for messages, [rounded up](rounded_up), such as "24 hours" or "15 minutes".
pub fn in_words(length: Duration) -> String {
    let (n, unit) = rounded_up(length);
    let unit = match unit {
        Unit::Second => "second",
        Unit::Minute => "minute",
        Unit::Hour => "hour",
        Unit::Day => "day",
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parsed_durations_are_in_range(text in r"\PC{0,24}") {
            if let Ok(length) = parse_duration(&text) {
                prop_assert!((1..=315_360_000).contains(&length.as_secs()));
            }
        }
    }

    #[test]
    fn durations_are_rounded_up_to_the_words_that_people_use() {
        for (seconds, words) in [
            (0, "1 second"),
            (59, "59 seconds"),
            (61, "2 minutes"),
            (3_540, "59 minutes"),
            (3_541, "1 hour"),
            (3_600, "1 hour"),
            (3_601, "61 minutes"),
            (86_400, "24 hours"),
            (7 * 86_400, "7 days"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), words, "{seconds}");
        }
    }

    #[test]
    fn the_time_since_something_is_rounded_down() {
        for (seconds, expected) in [
            (0, (1, Unit::Second)),
            (119, (1, Unit::Minute)),
            (3_599, (59, Unit::Minute)),
            (3_659, (1, Unit::Hour)),
            (7_199, (119, Unit::Minute)),
            (10_799, (2, Unit::Hour)),
            (172_801, (2, Unit::Day)),
        ] {
            assert_eq!(rounded_down(Duration::from_secs(seconds)), expected, "{seconds}");
        }
    }

    #[test]
    fn malformed_and_out_of_range_durations_are_rejected() {
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
}
