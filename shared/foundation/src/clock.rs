//! Points in time. Functions take a [`Timestamp`] as an argument; only [`now`] reads the system clock.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

/// A point in time: microseconds since 1970-01-01 UTC. Displayed and serialized as RFC 3339 with `Z` and
/// exactly six decimals, which fails for times after the year 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Timestamp(i64);

crate::schema! {
    Timestamp = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .pattern(Some(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"))
        .examples(["2023-11-14T22:13:20.000001Z"])
        .description(Some("RFC 3339, in UTC, with six decimals."));
}

/// The times that can be displayed, in microseconds: the years 0 to 9999 UTC.
const DISPLAYABLE: Range<i64> = -62_167_219_200_000_000..253_402_300_800_000_000;
/// The length of a displayed timestamp, in bytes.
const DISPLAY_LENGTH: usize = 27;

/// Returns the current time of the system clock.
pub fn now() -> Timestamp {
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}

/// Returns the microseconds by which the clock of this machine is ahead of another one, negative if it is
/// behind: the smallest difference that explains that the other one showed `other` at a time between `before`
/// and `after`.
pub fn ahead_of(other: Timestamp, before: Timestamp, after: Timestamp) -> i64 {
    let ahead = before.0.saturating_sub(other.0).max(0);
    let behind = other.0.saturating_sub(after.0).max(0);
    ahead.saturating_sub(behind)
}

/// The clock by which a request or command is judged: that of this machine or, while that is known to differ
/// too much from the clock of the database, the latter as far as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The microseconds by which the clock of this machine is ahead, negative if it is behind. Zero while the
    /// two agree.
    ahead_by: i64,
}

impl Clock {
    /// Creates the clock of a database that the clock of this machine is ahead of by these microseconds.
    pub const fn of_database(ahead_by: i64) -> Self {
        Self { ahead_by }
    }

    /// Returns the present.
    pub fn now(self) -> Timestamp {
        Timestamp(now().0.saturating_sub(self.ahead_by))
    }

    /// Returns whether the clock of this machine differs: then nothing is granted, signed or rotated.
    pub const fn differs(self) -> bool {
        self.ahead_by != 0
    }
}

impl Timestamp {
    /// Creates a timestamp from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the epoch, rounded down: a JWT `NumericDate` (RFC 7519 §2).
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Returns the time that is `length` later, or the latest timestamp if that is out of range.
    #[must_use]
    pub fn after(self, length: Duration) -> Self {
        Self(self.0.saturating_add(micros(length)))
    }

    /// Returns the time that is `length` earlier, or the earliest timestamp if that is out of range.
    #[must_use]
    pub fn before(self, length: Duration) -> Self {
        Self(self.0.saturating_sub(micros(length)))
    }

    /// Returns the duration from `earlier` to this time, or zero if `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses an RFC 3339 date and time with any offset, rounded down to microseconds. Returns `None` for any
    /// other text, and for a time whose offset moves it out of the years 0 to 9999 UTC, because it could not
    /// be displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let nanos = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
        let micros = i64::try_from(nanos.div_euclid(1_000)).ok();
        micros.filter(|micros| DISPLAYABLE.contains(micros)).map(Self)
    }

    /// Writes the time in the form of RFC 3339, with `Z` and six decimals. Returns `None` for times before
    /// the year 0 and after the year 9999. Lists format many times, so this avoids the general formatter.
    fn format(self, buffer: &mut [u8; DISPLAY_LENGTH]) -> Option<&str> {
        let time = OffsetDateTime::from_unix_timestamp(self.seconds()).ok()?;
        let (year, month, day) = time.to_calendar_date();
        let micros = u32::try_from(self.0.rem_euclid(1_000_000)).ok()?;
        *buffer = *b"0000-00-00T00:00:00.000000Z";
        let mut write = |end: usize, mut number: u32| {
            for digit in buffer[..end]
                .iter_mut()
                .rev()
                .take_while(|byte| byte.is_ascii_digit())
            {
                *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
                number /= 10;
            }
        };
        write(4, u32::try_from(year).ok()?);
        write(7, u32::from(u8::from(month)));
        write(10, u32::from(day));
        write(13, u32::from(time.hour()));
        write(16, u32::from(time.minute()));
        write(19, u32::from(time.second()));
        write(26, micros);
        std::str::from_utf8(buffer).ok()
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut buffer = [0; DISPLAY_LENGTH];
        f.write_str(self.format(&mut buffer).ok_or(std::fmt::Error)?)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; DISPLAY_LENGTH];
        let text = self.format(&mut buffer);
        serializer.serialize_str(text.ok_or_else(|| serde::ser::Error::custom("the year is not 0 to 9999"))?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 date and time"))
    }
}

fn micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timestamps_serialize_with_six_decimals_and_parse_back() {
        let time = Timestamp::from_micros(1_700_000_000_000_001);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.000001Z");
        assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        assert_eq!(Timestamp::parse("2023-11-14T23:13:20.000001+01:00"), Some(time));
        for text in [
            "yesterday",
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_time_of_the_years_0_to_9999_is_parsed_back(micros in DISPLAYABLE) {
            let time = Timestamp::from_micros(micros);
            prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
        }
    }

    #[test]
    fn times_outside_of_these_years_are_not_displayed() {
        for micros in [DISPLAYABLE.start - 1, DISPLAYABLE.end, i64::MIN, i64::MAX] {
            assert!(
                serde_json::to_string(&Timestamp::from_micros(micros)).is_err(),
                "{micros}"
            );
        }
    }
}
