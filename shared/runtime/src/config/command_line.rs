//! Reading the command line, and saying in one line what is wrong with it.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// Exit code of a command line or a setting that cannot work (`EX_USAGE` of sysexits).
pub const EX_USAGE: u8 = 64;

/// Reads a program's command line and environment. `Err` is the exit code, everything said already.
pub fn parse<T: CommandFactory + FromArgMatches>(args: impl IntoIterator<Item = OsString>) -> Result<T, u8> {
    let parsed = T::command()
        .try_get_matches_from(args)
        .and_then(|mut found| T::from_arg_matches_mut(&mut found));
    parsed.map_err(|error| {
        if !error.use_stderr() {
            // --help and --version
            let _ = error.print();
            return 0;
        }
        let text = without_value(&error).unwrap_or_else(|| error.render().to_string());
        let says = text
            .split("\n\n")
            .next()
            .unwrap_or(&text)
            .replace("\n  ", " ")
            .replace('\n', " ");
        report_error(says.trim_start_matches("error: "));
        EX_USAGE
    })
}

/// What is wrong with a setting's value, without repeating the value: it may hold a password.
fn without_value(error: &clap::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?;
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(setting) => Some(format!("{setting}: {cause}")),
        _ => None,
    }
}

/// Says one line on standard error.
pub fn report_error(what: &str) {
    #[allow(
        clippy::print_stderr,
        reason = "start-up errors are for whoever started the program"
    )]
    {
        eprintln!("error: {what}");
    }
}
