//! Parsing of the command line, with errors of one line.

mod config;
mod file;
mod healthcheck;
mod manual;

pub use file::SETTINGS_OF_ONE_SERVICE;

use super::network::NetworkSettings;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Subcommand as _};
use config::{CommonCommand, ConfigCommand};
use file::Entry;
use foundation::settings::InvalidSetting;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The exit code for an invalid command line or setting (`EX_USAGE` of sysexits.h).
pub const EX_USAGE: u8 = 64;

/// Parses a program's command line, its environment, and the settings file that they name. If the program
/// must not run, because of an error, `--help` or `--version`, prints the message and returns the exit code
/// as the error: 64 after an error, otherwise 0.
///
/// Also runs the commands that every program has, and returns their exit code as the error. `check` fails
/// with the setting for which the server would not start.
pub fn parse<T: CommandFactory + FromArgMatches>(
    args: impl IntoIterator<Item = OsString>,
    check: fn(&T) -> Result<(), InvalidSetting>,
) -> Result<T, u8> {
    let args: Vec<OsString> = args.into_iter().collect();
    let command = CommonCommand::augment_subcommands(T::command());
    let (mut matches, in_file) = find_values(&command, &args)?;
    // The error means that no command is given, or one of the program's own.
    let common = CommonCommand::from_arg_matches(&matches).ok();
    let mut parsed = || T::from_arg_matches_mut(&mut matches).map_err(|error| report(&error));
    let result = match common {
        None => return parsed(),
        Some(CommonCommand::Config(ConfigCommand::Check)) => {
            return Err(check(&parsed()?).map_or_else(|invalid| refuse(&invalid), |()| 0));
        }
        Some(CommonCommand::Config(ConfigCommand::Show { json })) => {
            config::show(&command, &matches, &in_file, json)
        }
        Some(CommonCommand::Healthcheck { ready }) => {
            let network = NetworkSettings::from_arg_matches(&matches).map_err(|error| report(&error))?;
            healthcheck::run(network.listen, ready).map_err(io::Error::other)
        }
        Some(CommonCommand::Completions { shell }) => manual::print_completions(shell, &command),
        Some(CommonCommand::Manpage) => manual::print_man_page(&command),
    };
    Err(match result {
        Ok(()) => 0,
        Err(error) => {
            report_error(&error.to_string());
            1
        }
    })
}

/// Returns the values of the command line and of the environment, and below them those of the settings file,
/// with the entries of the file.
fn find_values(command: &Command, args: &[OsString]) -> Result<(ArgMatches, HashMap<String, Entry>), u8> {
    let given = command.clone().try_get_matches_from(args);
    let given = given.map_err(|error| report(&error))?;
    let Some(path) = given.get_one::<PathBuf>("config") else {
        return Ok((given, HashMap::new()));
    };
    let in_file = file::read(path, command).map_err(|invalid| refuse(&invalid))?;
    // As defaults they are below flags and variables.
    let command = command.clone().mut_args(|arg| {
        let entry = arg.get_long().and_then(|name| in_file.get(name));
        match entry {
            Some(entry) => arg.default_values(&entry.texts),
            None => arg,
        }
    });
    let values = command.try_get_matches_from(args);
    Ok((values.map_err(|error| report(&error))?, in_file))
}

/// Prints an invalid setting. Returns the exit code.
fn refuse(invalid: &InvalidSetting) -> u8 {
    report_error(&invalid.to_string());
    EX_USAGE
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
    let message = text.split("\n\n").next();
    let message = message.unwrap_or(&text).replace("\n  ", " ").replace('\n', " ");
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
