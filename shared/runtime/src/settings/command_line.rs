//! Parsing of the command line, with errors of one line.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// The exit code for an invalid command line or setting (`EX_USAGE` of sysexits.h).
pub const EX_USAGE: u8 = 64;

/// Parses a program's command line and environment. If the program must not run, because of an error,
/// `--help` or `--version`, prints the message and returns the exit code as the error: 64 after an error,
/// otherwise 0.
pub fn parse<T: CommandFactory + FromArgMatches>(args: impl IntoIterator<Item = OsString>) -> Result<T, u8> {
    let parsed = T::command()
        .try_get_matches_from(args)
        .and_then(|mut matches| T::from_arg_matches_mut(&mut matches));
    parsed.map_err(|error| {
        if !error.use_stderr() {
            // The output of --help and --version.
            let _ = error.print();
            return 0;
        }
        let text = message_without_value(&error).unwrap_or_else(|| error.render().to_string());
        let message = text
            .split("\n\n")
            .next()
            .unwrap_or(&text)
            .replace("\n  ", " ")
            .replace('\n', " ");
        report_error(message.trim_start_matches("error: "));
        EX_USAGE
    })
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
