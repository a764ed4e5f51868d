//! Texts in the language of the request.

use super::presentation;
use askama::filters::{Escaper as _, Html, HtmlSafe};
use fluent_bundle::{FluentArgs, FluentValue};
use foundation::duration::{self, Unit};
use foundation::scope;
use std::borrow::{Borrow, Cow};
use std::fmt;
use std::time::Duration;

/// The characters that Fluent puts around arguments: FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// A text of the catalog with its arguments. Displayed as HTML.
#[derive(Debug)]
pub struct Text<'a> {
    id: Cow<'a, str>,
    arguments: FluentArgs<'a>,
}

/// Returns the text with this id.
pub fn of<'a>(id: impl Into<Cow<'a, str>>) -> Text<'a> {
    Text {
        id: id.into(),
        arguments: FluentArgs::new(),
    }
}

/// Returns a duration as a text, rounded up to a whole unit.
pub(crate) fn duration(length: Duration) -> String {
    let (n, unit) = duration::rounded(length);
    let text = match unit {
        Unit::Second => of("duration-seconds"),
        Unit::Minute => of("duration-minutes"),
        Unit::Hour => of("duration-hours"),
        Unit::Day => of("duration-days"),
    };
    text.count("n", n).plain()
}

/// Returns the description of a scope.
pub(crate) fn scope(name: &str) -> String {
    let id = format!("scope-{}", name.replace(':', "-"));
    let translated = presentation::language().format(&id, None, &FluentArgs::new());
    translated.unwrap_or_else(|| scope::in_words(name).to_owned())
}

impl Text<'_> {
    /// Sets an argument. Characters that change the direction of text are left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        let mut value = value.to_string();
        value.retain(|c| !is_directional(c));
        self.arguments.set(name, value);
        self
    }

    /// Sets an argument that is a number, which decides about the grammatical number.
    #[must_use]
    pub fn count(mut self, name: &'static str, n: impl Borrow<u64>) -> Self {
        self.arguments.set(name, FluentValue::from(*n.borrow()));
        self
    }

    /// Returns the text without markup.
    pub fn plain(&self) -> String {
        self.formatted(None).replace([ISOLATE, END_OF_ISOLATE], "")
    }

    /// Returns an attribute of the text without markup, with the same arguments.
    pub(crate) fn attribute(&self, name: &str) -> String {
        self.formatted(Some(name)).replace([ISOLATE, END_OF_ISOLATE], "")
    }

    fn formatted(&self, attribute: Option<&str>) -> String {
        let text = presentation::language().format(&self.id, attribute, &self.arguments);
        text.unwrap_or_else(|| {
            tracing::error!(id = %self.id, attribute, "a text of a page is missing");
            String::new()
        })
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.formatted(None);
        for part in text.split_inclusive([ISOLATE, END_OF_ISOLATE]) {
            let (words, element) = match part.chars().next_back() {
                Some(ISOLATE) => (part.trim_end_matches(ISOLATE), "<bdi>"),
                Some(END_OF_ISOLATE) => (part.trim_end_matches(END_OF_ISOLATE), "</bdi>"),
                _ => (part, ""),
            };
            Html.write_escaped_str(&mut *formatter, words)?;
            formatter.write_str(element)?;
        }
        Ok(())
    }
}

impl HtmlSafe for Text<'_> {}

/// Returns whether a character changes the direction of text (UAX #9).
fn is_directional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_escaped_and_isolated() {
        let text = of("consent").with("client", "<b>\u{202e}x\u{2069}</b>");
        assert_eq!(text.to_string(), "Allow <bdi>&#60;b&#62;x&#60;/b&#62;</bdi>?");
        assert_eq!(text.plain(), "Allow <b>x</b>?");
    }

    #[test]
    fn the_number_decides_about_the_unit() {
        assert_eq!(duration(Duration::from_secs(1)), "1 second");
        assert_eq!(duration(Duration::from_secs(7_200)), "2 hours");
    }
}
