//! Parsing of the command line, with errors of one line.

mod file;

pub use file::SETTINGS_OF_ONE_SERVICE;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

/// The exit code for an invalid command line or setting (`EX_USAGE` of sysexits.h).
pub const EX_USAGE: u8 = 64;

/// Parses a program's command line, its environment, and the settings file that they name. If the program
/// must not run, because of an error, `--help` or `--version`, prints the message and returns the exit code
/// as the error: 64 after an error, otherwise 0.
pub fn parse<T: CommandFactory + FromArgMatches>(args: impl IntoIterator<Item = OsString>) -> Result<T, u8> {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut matches = find_values(T::command(), &args)?;
    T::from_arg_matches_mut(&mut matches).map_err(|error| report(&error))
}

/// Returns the values of the command line and of the environment, and below them those of the settings file.
fn find_values(command: Command, args: &[OsString]) -> Result<ArgMatches, u8> {
    let given = command.clone().try_get_matches_from(args);
    let given = given.map_err(|error| report(&error))?;
    let Some(path) = given.get_one::<PathBuf>("config") else {
        return Ok(given);
    };
    let in_file = file::read(path, &command).map_err(|invalid| {
        report_error(&invalid.to_string());
        EX_USAGE
    })?;
    // As defaults they are below flags and variables.
    let command = command.mut_args(|arg| match arg.get_long().and_then(|name| in_file.get(name)) {
        Some(values) => arg.default_values(values),
        None => arg,
    });
    command.try_get_matches_from(args).map_err(|error| report(&error))
}

/// Prints the output of `--help` or `--version`, or an error. Returns the exit code.
fn report(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    report_error(&message(error));
    EX_USAGE
}

/// Describes an error of the command line on one line.
fn message(error: &clap::Error) -> String {
    let text = message_without_value(error).unwrap_or_else(|| error.render().to_string());
    let message = text
        .split("\n\n")
        .next()
        .unwrap_or(&text)
        .replace("\n  ", " ")
        .replace('\n', " ");
    message.trim_start_matches("error: ").to_owned()
}

/// Describes an invalid value without repeating it, because it may contain a password. Returns `None` for
/// other errors.
fn message_without_value(error: &clap::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?;
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(setting) => Some(format!("{setting}: {cause}")),
        _ => None,
    }
}

/// Prints an error message to standard error.
pub fn report_error(message: &str) {
    #[allow(
        clippy::print_stderr,
        reason = "start-up errors go to the operator, before logging starts"
    )]
    {
        eprintln!("error: {message}");
    }
}
