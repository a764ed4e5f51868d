//! The fields of the filters above lists.

use crate::pages::text::{self, Text};

/// The parameters of a list with invalid values.
#[derive(Clone, Copy)]
pub(super) struct Refused<'a>(pub(super) &'a [(&'static str, String)]);

/// A field for a value that is typed.
pub(in crate::pages) struct Condition {
    pub(in crate::pages) name: &'static str,
    pub(in crate::pages) label: String,
    pub(in crate::pages) value: String,
    /// The message that the value is invalid.
    pub(in crate::pages) error: Option<Text<'static>>,
    /// Whether the value is a time in UTC.
    pub(in crate::pages) is_time: bool,
}

impl<'a> Refused<'a> {
    fn value(self, name: &str) -> Option<&'a String> {
        let refused = self.0.iter().find(|(refused, _)| *refused == name);
        refused.map(|(_, value)| value)
    }

    /// Returns the message about the value of this parameter, if that is invalid.
    pub(super) fn error(self, name: &str) -> Option<Text<'static>> {
        self.value(name).map(|value| refusal(value))
    }
}

impl Condition {
    /// Returns a text field with this value. If there is none, it has the invalid value that the query had,
    /// so that it can be corrected.
    pub(super) fn new(
        name: &'static str,
        label: &Text<'_>,
        value: Option<String>,
        refused: Refused<'_>,
    ) -> Self {
        Self {
            name,
            label: label.plain(),
            value: value.or_else(|| refused.value(name).cloned()).unwrap_or_default(),
            error: refused.error(name),
            is_time: false,
        }
    }
}

/// Returns the message about an invalid value.
pub(in crate::pages) fn refusal(value: &str) -> Text<'static> {
    text::of("events-refused").with("value", value)
}
