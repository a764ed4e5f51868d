//! The findings of `doctor`.

use crate::output::{self, Cell, Column, Table, cell};
use crate::startup::Error;
use serde_json::{Value, json};
use std::io;

const COLUMNS: [Column; 4] = [
    Column::Plain("state"),
    Column::Plain("check"),
    Column::Plain("detail"),
    Column::Labeled("to do:"),
];

/// The findings, one for each check.
#[derive(Debug, Default)]
pub struct Report(Vec<Finding>);

/// The result of a check.
#[derive(Debug)]
struct Finding {
    check: &'static str,
    state: State,
    detail: String,
    remedy: Option<String>,
}

/// The state of what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    /// Not checked, for the reason in the detail.
    Skipped,
    /// It works, and may fail later.
    Warning,
    Error,
}

impl Report {
    /// Adds a check that found nothing.
    pub fn ok(&mut self, check: &'static str, detail: impl Into<String>) {
        self.add(check, State::Ok, &detail.into(), None);
    }

    /// Adds a check that was not made, with the reason.
    pub fn skip(&mut self, check: &'static str, reason: impl Into<String>) {
        self.add(check, State::Skipped, &reason.into(), None);
    }

    /// Adds a finding that has no effect yet, or not on every client.
    pub fn warn(&mut self, check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, State::Warning, &detail.into(), Some(&remedy.into()));
    }

    /// Adds a finding that is an error.
    pub fn fail(&mut self, check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, State::Error, &detail.into(), Some(&remedy.into()));
    }

    fn add(&mut self, check: &'static str, state: State, detail: &str, remedy: Option<&str>) {
        self.0.push(Finding {
            check,
            state,
            detail: without_controls(detail),
            remedy: remedy.map(without_controls),
        });
    }

    /// Prints the findings, one on each line or row, or as one line of JSON if `json` is set.
    pub(super) fn print(&self, json: bool) -> io::Result<()> {
        let findings: Value = self.0.iter().map(Finding::to_json).collect();
        let table = Table::new(&COLUMNS, self.0.iter().map(Finding::to_row));
        output::print(json, &findings, &table)
    }

    /// Fails if a finding is an error.
    pub(super) fn result(&self) -> Result<(), Error> {
        let errors = self.0.iter().filter(|finding| finding.state == State::Error);
        let errors: Vec<&str> = errors.map(|finding| finding.check).collect();
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Error::Other(format!("checks that failed: {}", errors.join(", ")))),
        }
    }
}

impl Finding {
    fn to_json(&self) -> Value {
        json!({
            "check": self.check,
            "state": self.state.as_str(),
            "detail": self.detail,
            "remedy": self.remedy,
        })
    }

    fn to_row(&self) -> [Cell; 4] {
        let (state, check) = (self.state.as_str(), self.check);
        [cell(state), cell(check), cell(&self.detail), self.remedy.clone()]
    }
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Returns a text that stays on its line and cannot control a terminal: another server may have sent parts of
/// it.
fn without_controls(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_do_not_control_the_terminal() {
        let mut report = Report::default();
        report.fail("database", "it\nanswers \u{1b}[2J", "read \u{9b}31m its log");
        let table = Table::new(&COLUMNS, [report.0[0].to_row()]);
        let line = "error  database  it answers  [2J  to do: read  31m its log";
        assert_eq!(table.to_lines(), [line]);
    }
}
