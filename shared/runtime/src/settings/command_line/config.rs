//! The commands of every program, and of these `config show`.

use super::file::Entry;
use crate::output::{self, Cell, Column, Table, cell};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Subcommand};
use clap_complete::aot::Shell;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;

const COLUMNS: [Column; 3] = [
    Column::Plain("name"),
    Column::Plain("value"),
    Column::Plain("origin"),
];

/// The commands of every program.
#[derive(Debug, Subcommand)]
pub(super) enum CommonCommand {
    /// Check or show the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Ask the running server at LISTEN whether it is live. Exits within two seconds, with 0 if it is.
    Healthcheck {
        /// Ask whether it is ready, that is, whether what it depends on is available too.
        #[arg(long)]
        ready: bool,
    },
    /// Print the script with which a shell completes commands and settings.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page.
    Manpage,
}

/// The commands for settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Check the settings as the server does when it starts.
    Check,
    /// Show every setting with its value and the origin of the value. Secrets are not shown.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A setting as it is shown.
struct Shown<'a> {
    name: &'a str,
    /// The value, unless it is secret or not set.
    value: Option<String>,
    is_redacted: bool,
    origin: &'static str,
    /// The line of the settings file, if that is the origin.
    line: Option<usize>,
}

/// Prints the settings of `command`, whose values are in `matches`, as one line of JSON if `json` is set.
pub(super) fn show(
    command: &Command,
    matches: &ArgMatches,
    in_file: &HashMap<String, Entry>,
    json: bool,
) -> io::Result<()> {
    let settings = command.get_arguments();
    let settings = settings.filter_map(|arg| Shown::new(arg, matches, in_file));
    let settings: Vec<_> = settings.collect();
    let values: Value = settings.iter().map(Shown::to_json).collect();
    output::print(
        json,
        &values,
        &Table::new(&COLUMNS, settings.iter().map(Shown::to_row)),
    )
}

impl<'a> Shown<'a> {
    fn new(arg: &'a Arg, matches: &ArgMatches, in_file: &HashMap<String, Entry>) -> Option<Self> {
        let (id, name) = (arg.get_id().as_str(), arg.get_long()?);
        let values = matches.get_raw(id);
        let value = values.map(|values| {
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            values.join(",")
        });
        let (origin, line) = match (matches.value_source(id), in_file.get(name)) {
            (Some(ValueSource::CommandLine), _) => ("flag", None),
            (Some(ValueSource::EnvVariable), _) => ("environment", None),
            (_, Some(entry)) => ("file", Some(entry.line)),
            (_, None) => ("default", None),
        };
        let is_redacted = value.is_some() && arg.is_hide_env_values_set();
        Some(Self {
            name,
            value: value.filter(|_| !is_redacted),
            is_redacted,
            origin,
            line,
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "value": self.value,
            "redacted": self.is_redacted,
            "origin": self.origin,
            "line": self.line,
        })
    }

    fn to_row(&self) -> [Cell; 3] {
        let value = match (&self.value, self.is_redacted) {
            (Some(value), _) => value.as_str(),
            (None, true) => "(redacted)",
            (None, false) => "(not set)",
        };
        let line = self.line.map(|line| format!(", line {line}"));
        let origin = format!("{}{}", self.origin, line.unwrap_or_default());
        [cell(self.name), cell(value), Some(origin)]
    }
}
