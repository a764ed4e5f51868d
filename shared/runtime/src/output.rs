//! The output of the commands: JSON, tables on a terminal, and lines in a pipe.

use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement};
use foundation::characters::is_directional;
use serde::Serialize;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use terminal_size::{Width, terminal_size_of};

/// The greatest width of a column that is never wrapped: every id fits.
const MAX_WHOLE: u16 = 44;
/// The least width of a wrapped column.
const MIN_WRAPPED: u16 = 24;
/// The width between two columns.
const GAP: u16 = 2;

/// A value in a table. A line in a pipe leaves a missing one out.
pub type Cell = Option<String>;

/// A column of a table, with its heading.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Its values tell their meaning: lines in a pipe do not have the heading.
    Plain(&'static str),
    /// Lines in a pipe have the heading before the value.
    Labeled(&'static str),
}

/// The text that a command prints: rows, and further lines below them.
#[derive(Debug)]
pub struct Table {
    columns: &'static [Column],
    rows: Vec<Vec<Cell>>,
    notes: Vec<String>,
}

/// Prints `value` as one line of JSON if `json` is set. Otherwise prints `table`, aligned on a terminal, and
/// as a line for each row elsewhere. No control character reaches a terminal, because users and apps choose
/// some of the texts.
pub fn print(json: bool, value: &impl Serialize, table: &Table) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    let lines = match (json, is_terminal) {
        (true, _) => vec![serde_json::to_string(value)?],
        (false, true) => table.draw(terminal_width(&out)),
        (false, false) => table.to_lines(),
    };
    for line in lines {
        match is_terminal {
            true => writeln!(out, "{}", without_controls(&line))?,
            false => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// Returns the width of a terminal, if it has one.
pub fn terminal_width(terminal: impl AsFd) -> Option<u16> {
    terminal_size_of(terminal).map(|(Width(width), _)| width)
}

/// Returns a cell with this value.
pub fn cell(value: impl Display) -> Cell {
    Some(value.to_string())
}

impl Table {
    /// Creates a table. A column without a value in any row is left out.
    pub fn new<const N: usize>(
        columns: &'static [Column; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        Self {
            columns,
            rows: rows.into_iter().map(Vec::from).collect(),
            notes: Vec::new(),
        }
    }

    /// Creates a text that is no table.
    pub fn of_lines(lines: impl IntoIterator<Item = String>) -> Self {
        Self::new(&[], []).with_notes(lines)
    }

    /// Adds lines below the rows.
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Returns the lines in a pipe.
    pub fn to_lines(&self) -> Vec<String> {
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row);
            let parts = cells.filter_map(|(column, cell)| Some(column.part(cell.as_deref()?)));
            parts.collect::<Vec<_>>().join("  ")
        });
        rows.chain(self.notes.iter().cloned()).collect()
    }

    /// Returns the lines on a terminal of this width: columns below their headings, of which only wide ones
    /// are wrapped, or a block of lines for each row if the terminal is too narrow for that.
    fn draw(&self, width: Option<u16>) -> Vec<String> {
        let is_used = |(index, _): &(usize, &Column)| self.rows.iter().any(|row| row[*index].is_some());
        let columns: Vec<_> = self.columns.iter().enumerate().filter(is_used).collect();
        let mut table = frame(width);
        table.set_header(columns.iter().map(|(_, column)| column.heading()));
        table.add_rows(self.rows.iter().map(|row| {
            let cells = columns.iter().map(move |(index, _)| row[*index].as_deref());
            cells.map(|cell| without_controls(cell.unwrap_or_default()))
        }));
        let widths = table.column_max_content_widths();
        let least = widths.iter().map(|width| match *width {
            whole @ ..=MAX_WHOLE => whole + GAP,
            _ => MIN_WRAPPED + GAP,
        });
        let least: u16 = least.sum();
        let lines = match width {
            Some(width) if least > width.saturating_add(GAP) => self.blocks(width),
            _ if columns.is_empty() => Vec::new(),
            _ => finish(&mut table, &widths),
        };
        lines.into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// Returns the rows as blocks: a line for each value, after its heading, and an empty line between rows.
    fn blocks(&self, width: u16) -> Vec<String> {
        let blocks = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.filter_map(|(column, cell)| Some((column, cell.as_deref()?)));
            let mut table = frame(Some(width));
            table.add_rows(cells.map(|(column, cell)| [column.heading(), without_controls(cell)]));
            finish(&mut table, &[0, u16::MAX])
        });
        let blocks: Vec<_> = blocks.collect();
        blocks.join(&String::new())
    }
}

impl Column {
    fn heading(self) -> String {
        let (Self::Plain(heading) | Self::Labeled(heading)) = self;
        heading.trim_end_matches(':').to_uppercase()
    }

    /// Returns the part of a line with this value.
    fn part(self, value: &str) -> String {
        match self {
            Self::Plain(_) => value.to_owned(),
            Self::Labeled(label) => format!("{label} {value}"),
        }
    }
}

/// Returns an empty table without borders.
fn frame(width: Option<u16>) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_preset(NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table
}

/// Returns the lines of a table whose columns have these widths.
fn finish(table: &mut comfy_table::Table, widths: &[u16]) -> Vec<String> {
    for (column, width) in table.column_iter_mut().zip(widths) {
        column.set_padding((0, GAP));
        if *width <= MAX_WHOLE {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    if let Some(last) = table.column_iter_mut().next_back() {
        last.set_padding((0, 0));
    }
    let text = table.trim_fmt();
    text.lines().map(str::to_owned).collect()
}

/// Returns a text that stays on its line and cannot control a terminal. Controls are escaped as in JSON, so
/// that JSON keeps its meaning.
fn without_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() || is_directional(c) {
            // Writing to a string cannot fail.
            true => _ = write!(shown, "\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::Plain("id"),
        Column::Plain("name"),
        Column::Labeled("last used"),
        Column::Labeled("from"),
    ];

    fn table(names: &[&str]) -> Table {
        let rows = names.iter().enumerate();
        let rows = rows.map(|(id, name)| [cell(id), cell(name), None, (id > 0).then(|| "::1".to_owned())]);
        Table::new(&COLUMNS, rows).with_notes(["next page".to_owned()])
    }

    #[test]
    fn a_pipe_gets_lines() {
        let lines = table(&["Ann", ""]).to_lines();
        assert_eq!(lines, ["0  Ann", "1    from ::1", "next page"]);
    }

    #[test]
    fn a_terminal_gets_columns_that_align_also_wide_characters() {
        let lines = table(&["日本", "Ann"]).draw(Some(80));
        assert_eq!(
            lines,
            ["ID  NAME  FROM", "0   日本", "1   Ann   ::1", "next page"]
        );
        assert_eq!(table(&["日本", "Ann"]).draw(None), lines);
        assert_eq!(table(&[]).draw(Some(80)), ["next page"]);
    }

    #[test]
    fn a_wide_column_is_wrapped() {
        let name = "word ".repeat(12);
        let lines = table(&["Ann", name.trim_end()]).draw(Some(39));
        assert_eq!(
            lines,
            [
                "ID  NAME                           FROM",
                "0   Ann",
                "1   word word word word word word  ::1",
                "    word word word word word word",
                "next page"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_gets_a_block_for_each_row() {
        let name = "word ".repeat(12);
        let lines = table(&["Ann", name.trim_end()]).draw(Some(30));
        assert_eq!(
            lines,
            [
                "ID    0",
                "NAME  Ann",
                "",
                "ID    1",
                "NAME  word word word word word",
                "      word word word word word",
                "      word word",
                "FROM  ::1",
                "next page"
            ]
        );
    }

    #[test]
    fn no_control_reaches_a_terminal() {
        let lines = table(&["\u{1b}[2J\n\u{9b}31m\u{202e}"]).draw(Some(80));
        assert_eq!(lines[..2], ["ID  NAME", "0   \\u001b[2J\\u000a\\u009b31m\\u202e"]);
    }
}
