//! Texts in the language of the request.

use super::done::Done;
use super::presentation;
use askama::filters::{Escaper as _, Html, HtmlSafe};
use fluent_bundle::{FluentArgs, FluentValue};
use foundation::characters::is_directional;
use foundation::clock::Timestamp;
use foundation::duration::{self, Unit};
use foundation::scope;
use std::borrow::{Borrow, Cow};
use std::fmt::{self, Write as _};
use std::time::Duration;

/// The characters that Fluent puts around arguments: FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';
/// Characters for private use, around the words of a time.
const TIME: char = '\u{e000}';
const END_OF_TIME: char = '\u{e001}';
/// Characters for private use, around a name in code.
const CODE: char = '\u{e002}';
const END_OF_CODE: char = '\u{e003}';
/// All characters that become markup.
const MARKS: [char; 6] = [ISOLATE, END_OF_ISOLATE, TIME, END_OF_TIME, CODE, END_OF_CODE];

/// A text of the catalog with its arguments. Displayed as HTML.
#[derive(Debug)]
pub struct Text<'a> {
    id: Cow<'a, str>,
    arguments: FluentArgs<'a>,
    /// The time that one of the arguments tells in words.
    time: Option<Timestamp>,
}

/// Returns the text with this id.
pub fn of<'a>(id: impl Into<Cow<'a, str>>) -> Text<'a> {
    Text {
        id: id.into(),
        arguments: FluentArgs::new(),
        time: None,
    }
}

/// Returns a duration as a text, rounded up to a whole unit.
pub(crate) fn duration(length: Duration) -> String {
    in_words(duration::rounded_up(length))
}

fn in_words((n, unit): (u64, Unit)) -> String {
    let text = match unit {
        Unit::Second => of("duration-seconds"),
        Unit::Minute => of("duration-minutes"),
        Unit::Hour => of("duration-hours"),
        Unit::Day => of("duration-days"),
    };
    text.count("n", n).plain()
}

/// Returns the day of a time, in UTC and in words.
pub(crate) fn day(at: Timestamp) -> String {
    let time = at.to_string();
    let numbers = time.split(['-', 'T']).map(|number| number.parse::<u64>());
    let mut numbers = numbers.map(Result::unwrap_or_default);
    let mut next = || numbers.next().unwrap_or_default();
    let (year, month, day) = (next(), next(), next());
    let text = of("date").count("year", year).count("month", month);
    text.count("day", day).plain()
}

/// Returns the description of a scope.
pub(crate) fn scope(name: &str) -> String {
    let id = format!("scope-{}", name.replace(':', "-"));
    let translated = presentation::language().format(&id, None, &FluentArgs::new());
    translated.unwrap_or_else(|| scope::in_words(name).to_owned())
}

/// Returns the text about a change that succeeded.
pub(super) fn done(change: Done) -> Text<'static> {
    match change {
        Done::AccountChanged => of("done-account-changed"),
        Done::AppChanged => of("done-app-changed"),
        Done::SessionEnded => of("done-session-ended"),
        Done::OtherSessionsEnded => of("done-other-sessions-ended"),
        Done::AppDisconnected => of("done-app-disconnected"),
        Done::PasskeyAdded => of("done-passkey-added"),
        Done::PasskeyRenamed => of("done-passkey-renamed"),
        Done::PasskeyRemoved => of("done-passkey-removed"),
        Done::PasswordChanged => of("done-password-changed"),
        Done::PasswordRemoved => of("done-password-removed"),
    }
}

impl Text<'_> {
    /// Sets an argument. Characters that change the direction of text are left out, and those with which a
    /// text is marked up.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.arguments.set(name, without_marks(value.to_string()));
        self
    }

    /// Sets an argument like [`Text::with`] that is a name in code, such as that of a file.
    #[must_use]
    pub fn code(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        let value = without_marks(value.to_string());
        self.arguments.set(name, format!("{CODE}{value}{END_OF_CODE}"));
        self
    }

    /// Sets an argument that is a number, which decides about the grammatical number.
    #[must_use]
    pub fn count(mut self, name: &'static str, n: impl Borrow<u64>) -> Self {
        self.arguments.set(name, FluentValue::from(*n.borrow()));
        self
    }

    /// Sets an argument to the time since `at`, in words and rounded down. The page has the exact time too. A
    /// text has at most one such argument.
    #[must_use]
    pub(crate) fn since(
        self,
        name: &'static str,
        at: impl Borrow<Timestamp>,
        now: impl Borrow<Timestamp>,
    ) -> Self {
        let (at, now) = (*at.borrow(), *now.borrow());
        self.set_time(name, at, duration::rounded_down(now.since(at)))
    }

    /// Sets an argument to the time from `now` until `at`, like [`Text::since`], but rounded up.
    #[must_use]
    pub(crate) fn until(
        self,
        name: &'static str,
        at: impl Borrow<Timestamp>,
        now: impl Borrow<Timestamp>,
    ) -> Self {
        let (at, now) = (*at.borrow(), *now.borrow());
        self.set_time(name, at, duration::rounded_up(at.since(now)))
    }

    fn set_time(mut self, name: &'static str, at: Timestamp, length: (u64, Unit)) -> Self {
        let words = in_words(length);
        self.arguments.set(name, format!("{TIME}{words}{END_OF_TIME}"));
        self.time = Some(at);
        self
    }

    /// Returns the text without markup.
    pub fn plain(&self) -> String {
        self.formatted(None).replace(MARKS, "")
    }

    /// Returns an attribute of the text without markup, with the same arguments.
    pub(crate) fn attribute(&self, name: &str) -> String {
        self.formatted(Some(name)).replace(MARKS, "")
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
        for part in text.split_inclusive(MARKS) {
            let mark = part.chars().next_back().filter(|mark| MARKS.contains(mark));
            Html.write_escaped_str(&mut *formatter, part.trim_end_matches(MARKS))?;
            match (mark, self.time) {
                (Some(ISOLATE), _) => formatter.write_str("<bdi>")?,
                (Some(END_OF_ISOLATE), _) => formatter.write_str("</bdi>")?,
                (Some(TIME), Some(at)) => write_start_of_time(formatter, at)?,
                (Some(END_OF_TIME), _) => formatter.write_str("</time>")?,
                (Some(CODE), _) => formatter.write_str("<code>")?,
                (Some(END_OF_CODE), _) => formatter.write_str("</code>")?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl HtmlSafe for Text<'_> {}

/// Writes the start of an element for a time. Its title is the time in UTC, which the script of the pages
/// replaces by the local time.
fn write_start_of_time(formatter: &mut fmt::Formatter<'_>, at: Timestamp) -> fmt::Result {
    let mut title = String::new();
    write!(title, "{at}")?;
    let (seconds, _) = title.split_once('.').unwrap_or((&title, ""));
    let seconds = seconds.replace('T', " ");
    write!(formatter, "<time datetime=\"{at}\" title=\"{seconds} UTC\">")
}

/// Returns an argument without the characters that change the direction of text or become markup.
fn without_marks(mut value: String) -> String {
    value.retain(|c| !is_directional(c) && !MARKS.contains(&c));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_escaped_and_isolated() {
        let text = of("consent").with("client", "<b>\u{202e}x\u{2069}</b>");
        assert_eq!(
            text.to_string(),
            "Give <bdi>&#60;b&#62;x&#60;/b&#62;</bdi> access to your account?"
        );
        assert_eq!(text.plain(), "Give <b>x</b> access to your account?");
    }

    #[test]
    fn a_time_in_words_has_the_exact_one() {
        let at = Timestamp::from_micros(1_000_000_500_000);
        let now = at.after(Duration::from_secs(119));
        let text = of("ago").since("time", at, now);
        assert_eq!(
            text.to_string(),
            "<bdi><time datetime=\"1970-01-12T13:46:40.500000Z\" title=\"1970-01-12 13:46:40 UTC\">1\u{a0}minute</time></bdi> ago"
        );
        assert_eq!(text.plain(), "1\u{a0}minute ago");
        let with_marks = of("ago").with("time", "\u{e000}x\u{e001}");
        assert_eq!(with_marks.to_string(), "<bdi>x</bdi> ago");
    }

    #[test]
    fn a_name_in_code_has_its_element() {
        let text = of("home-password-in-file").with("administrator", "ann");
        let text = text.code("path", "/<a>\u{e003}");
        assert_eq!(
            text.to_string(),
            "The first password of <bdi>ann</bdi> is in the file <bdi><code>/&#60;a&#62;</code></bdi>."
        );
        assert_eq!(text.plain(), "The first password of ann is in the file /<a>.");
    }

    #[test]
    fn a_day_has_the_name_of_its_month() {
        let at = Timestamp::from_micros(1_000_000_500_000);
        assert_eq!(day(at), "12 January 1970");
    }

    #[test]
    fn the_number_decides_about_the_unit() {
        assert_eq!(duration(Duration::from_secs(1)), "1\u{a0}second");
        assert_eq!(duration(Duration::from_secs(7_200)), "2\u{a0}hours");
    }
}
