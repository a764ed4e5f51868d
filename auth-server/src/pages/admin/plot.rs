//! A plot of figures over time: the lines of an SVG drawing.

use crate::pages::text::Text;
use foundation::clock::Timestamp;
use std::fmt::Write as _;

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
    /// The name of the line, with its last value and that of the whole window.
    pub(in crate::pages) label: Text<'static>,
}

/// Returns the value at the upper edge of a plot with these values: the largest of them, and at least 1.
pub(super) fn top<'v>(values: impl Iterator<Item = &'v Option<u64>>) -> u64 {
    let largest = values.flatten().max().copied();
    largest.unwrap_or_default().max(1)
}

/// Returns the data of the path through values at equal distances, from 0 at the lower edge to `top` at the
/// upper one. It has a gap where there is no value, and a value between two gaps is a point, which a round
/// end of the line makes visible.
pub(super) fn path(values: &[Option<u64>], top: u64) -> String {
    let mut path = String::new();
    let mut is_drawing = false;
    let last = u64::try_from(values.len()).unwrap_or(u64::MAX).max(2) - 1;
    for (position, value) in (0..).zip(values) {
        if let Some(value) = value {
            let x = WIDTH * position / last;
            let y = HEIGHT - HEIGHT.saturating_mul(*value.min(&top)) / top.max(1);
            // Writing to a string does not fail.
            let _ = match is_drawing {
                true => write!(path, "L{x} {y}"),
                false => write!(path, "M{x} {y}h0"),
            };
        }
        is_drawing = value.is_some();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_from_edge_to_edge() {
        let values = [Some(0), Some(5), Some(10)];
        assert_eq!(path(&values, 10), "M0 100h0L500 50L1000 0");
        assert_eq!(path(&values, 5), "M0 100h0L500 0L1000 0");
    }

    #[test]
    fn a_path_has_gaps_and_points() {
        let values = [None, Some(1), None, None, Some(2), Some(2)];
        assert_eq!(path(&values, 2), "M200 50h0M800 0h0L1000 0");
        assert_eq!(path(&[Some(1)], 1), "M0 0h0");
        assert_eq!(path(&[], 0), "");
    }

    #[test]
    fn the_upper_edge_is_the_largest_value() {
        assert_eq!(top([Some(3), None, Some(7), Some(1)].iter()), 7);
        assert_eq!(top([Some(0)].iter()), 1);
        assert_eq!(top([].iter()), 1);
    }
}
