//! A plot of figures over time: the lines of an SVG drawing.

use crate::pages::text::Text;
use foundation::clock::Timestamp;

/// The width of the drawing.
const WIDTH: u64 = 1000;
/// The height of the drawing.
const HEIGHT: u64 = 100;

/// A plot with one or more lines of one scale.
pub(in crate::pages) struct Plot {
    pub(in crate::pages) title: Text<'static>,
    /// The values at the lower and at the upper edge, in words.
    pub(in crate::pages) scale: Text<'static>,
    pub(in crate::pages) begin: Timestamp,
    pub(in crate::pages) lines: Vec<Line>,
}

/// A line of a plot.
pub(in crate::pages) struct Line {
    /// The CSS class.
    pub(in crate::pages) class: &'static str,
    /// The data of the SVG path.
    pub(in crate::pages) path: String,
    /// The data of the SVG path of the points.
    pub(in crate::pages) points: String,
    /// The name of the line, with its last value and that of the whole window.
    pub(in crate::pages) label: Text<'static>,
}

/// Returns the value at the upper edge of a plot with these values: the largest of them, and at least 1.
pub(super) fn top<'v>(values: impl Iterator<Item = &'v Option<u64>>) -> u64 {
    let largest = values.flatten().max().copied();
    largest.unwrap_or_default().max(1)
}

/// Returns the data of the paths of a line through values at equal distances, from 0 at the lower edge to
/// `top` at the upper one, and of its points. The line has a gap where there is no value, and a value between
/// two gaps is a point: a part without a length, which has a round end.
pub(super) fn paths(values: &[Option<u64>], top: u64) -> (String, String) {
    let last = u64::try_from(values.len()).unwrap_or(u64::MAX).max(2) - 1;
    let places = (0..).zip(values).map(|(position, value)| {
        value.map(|value| {
            let y = HEIGHT - HEIGHT.saturating_mul(value.min(top)) / top.max(1);
            format!("{} {y}", WIDTH * position / last)
        })
    });
    let places: Vec<Option<String>> = places.collect();
    let (mut line, mut points) = (String::new(), String::new());
    for part in places.split(Option::is_none) {
        let part: Vec<&str> = part.iter().flatten().map(String::as_str).collect();
        match part[..] {
            [] => {}
            [point] => points.extend(["M", point, "h0"]),
            _ => line.extend(["M", part.join("L").as_str()]),
        }
    }
    (line, points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_leads_from_edge_to_edge() {
        let values = [Some(0), Some(5), Some(10)];
        let line = |path: &str| (path.to_owned(), String::new());
        assert_eq!(paths(&values, 10), line("M0 100L500 50L1000 0"));
        assert_eq!(paths(&values, 5), line("M0 100L500 0L1000 0"));
    }

    #[test]
    fn a_line_has_gaps_and_points() {
        let values = [None, Some(1), None, Some(0), None, None, Some(2), Some(2), None];
        let (line, points) = paths(&values, 2);
        assert_eq!(
            (line.as_str(), points.as_str()),
            ("M750 0L875 0", "M125 50h0M375 100h0")
        );
        assert_eq!(paths(&[Some(1)], 1), (String::new(), "M0 0h0".to_owned()));
        assert_eq!(paths(&[], 0), (String::new(), String::new()));
    }

    #[test]
    fn the_upper_edge_is_the_largest_value() {
        assert_eq!(top([Some(3), None, Some(7), Some(1)].iter()), 7);
        assert_eq!(top([Some(0)].iter()), 1);
        assert_eq!(top([].iter()), 1);
    }
}
