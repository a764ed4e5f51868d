//! The time line of the signing keys: the figures of an SVG drawing.

use foundation::clock::Timestamp;
use issuer::keys::life::Life;
use std::time::Duration;

/// The width of the drawing, whose unit is a thousandth of the line.
const WIDTH: u64 = 1000;
/// The least width of a bar. The bar of the next period may cover the rest of it.
const MIN_WIDTH: u64 = 4;
/// The least time that the line covers.
const MIN_SPAN: Duration = Duration::from_mins(1);

/// The lives of several keys on one line of time.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pages) struct TimeLine {
    pub(in crate::pages) begin: Timestamp,
    pub(in crate::pages) end: Timestamp,
    /// The position of the present.
    pub(in crate::pages) now: u64,
}

/// The bars of a key on the line.
pub(in crate::pages) struct Lane<'a> {
    pub(in crate::pages) kid: &'a str,
    pub(in crate::pages) state: String,
    pub(in crate::pages) bars: Vec<Bar>,
}

/// A period of a key, or its past or planned part.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pages) struct Bar {
    /// The CSS classes.
    pub(in crate::pages) class: &'static str,
    pub(in crate::pages) x: u64,
    pub(in crate::pages) width: u64,
}

impl TimeLine {
    /// Draws these lives, each with whether its key was deleted as compromised. Returns the line and the bars
    /// of each life. The line ends some time after the last change that is planned for one of them, other
    /// than the end of a key that does not sign yet.
    pub(in crate::pages) fn draw(lives: &[(Life, bool)], now: Timestamp) -> (Self, Vec<Vec<Bar>>) {
        let begin = lives.iter().map(|(life, _)| life.staged_at).min();
        let begin = begin.unwrap_or(now).min(now);
        let changes = lives.iter().flat_map(|(life, _)| match life.activated_at {
            Some(at) if at > now => [Some(at), None],
            _ => [life.retired_at, life.deleted_at],
        });
        let last = changes.flatten().max().unwrap_or(now).max(now);
        let end = last.after((last.since(begin) / 8).max(MIN_SPAN));
        let scale = Scale { begin, end, now };
        let line = Self {
            begin,
            end,
            now: scale.position(now),
        };
        let bars = lives
            .iter()
            .map(|(life, is_compromised)| scale.bars(life, *is_compromised));
        (line, bars.collect())
    }
}

struct Scale {
    begin: Timestamp,
    end: Timestamp,
    now: Timestamp,
}

impl Scale {
    /// Returns the position of a time. Times beyond the line are at its ends.
    fn position(&self, at: Timestamp) -> u64 {
        let span = self.end.since(self.begin).as_micros().max(1);
        let position = at.since(self.begin).as_micros() * u128::from(WIDTH) / span;
        u64::try_from(position).map_or(WIDTH, |position| position.min(WIDTH))
    }

    fn bars(&self, life: &Life, is_compromised: bool) -> Vec<Bar> {
        let deleted_at = life.deleted_at.unwrap_or(self.end);
        let retired_at = life.retired_at.unwrap_or(deleted_at);
        let activated_at = life.activated_at.unwrap_or(deleted_at);
        let mut bars = Vec::new();
        self.draw(
            &mut bars,
            ["staged", "staged planned"],
            life.staged_at,
            activated_at,
        );
        self.draw(&mut bars, ["active", "active planned"], activated_at, retired_at);
        self.draw(&mut bars, ["retired", "retired planned"], retired_at, deleted_at);
        if is_compromised {
            bars.push(self.bar("compromised", deleted_at, deleted_at));
        }
        bars
    }

    /// Draws a period with its past and its planned part.
    fn draw(
        &self,
        bars: &mut Vec<Bar>,
        [past, planned]: [&'static str; 2],
        from: Timestamp,
        until: Timestamp,
    ) {
        let middle = self.now.max(from).min(until);
        if from < middle {
            bars.push(self.bar(past, from, middle));
        }
        if middle < until && middle < self.end {
            bars.push(self.bar(planned, middle, until));
        }
    }

    fn bar(&self, class: &'static str, from: Timestamp, until: Timestamp) -> Bar {
        let x = self.position(from).min(WIDTH - MIN_WIDTH);
        let width = self.position(until).saturating_sub(x).max(MIN_WIDTH);
        Bar { class, x, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn life([staged, activated, retired, deleted]: [Option<i64>; 4]) -> Life {
        Life {
            staged_at: at(staged.unwrap_or_default()),
            activated_at: activated.map(at),
            retired_at: retired.map(at),
            deleted_at: deleted.map(at),
        }
    }

    fn bar(class: &'static str, x: u64, width: u64) -> Bar {
        Bar { class, x, width }
    }

    #[test]
    fn the_present_divides_the_periods() {
        let active = life([Some(0), Some(0), Some(7200), Some(8000)]);
        let staged = life([Some(0), Some(7200), Some(14_400), Some(15_200)]);
        let (line, bars) = TimeLine::draw(&[(active, false), (staged, false)], at(3600));
        assert_eq!((line.begin, line.end, line.now), (at(0), at(9000), 400));
        let of_active = [
            bar("active", 0, 400),
            bar("active planned", 400, 400),
            bar("retired planned", 800, 88),
        ];
        assert_eq!(bars[0], of_active);
        let of_staged = [
            bar("staged", 0, 400),
            bar("staged planned", 400, 400),
            bar("active planned", 800, 200),
        ];
        assert_eq!(bars[1], of_staged);
    }

    #[test]
    fn a_compromised_key_ends_with_a_mark_that_is_visible() {
        let discarded = life([Some(0), None, None, Some(800)]);
        let (line, bars) = TimeLine::draw(&[(discarded, true)], at(800));
        assert_eq!(line.end, at(900));
        assert_eq!(bars[0], [bar("staged", 0, 888), bar("compromised", 888, 4)]);
    }

    #[test]
    fn a_line_without_keys_is_empty() {
        let (line, bars) = TimeLine::draw(&[], at(100));
        assert_eq!((line.begin, line.end, line.now), (at(100), at(160), 0));
        assert!(bars.is_empty());
    }
}
